import { isText, isTexts, type OptionsReader } from '../protocol/configuration'

/** Reads the option `audience`: one text, or a list of which each will do. */
export function readAudience(reading: OptionsReader, cure: string): readonly string[] {
  return [reading.required('audience', '', isAudience, cure)].flat()
}

const isAudience = (value: unknown): value is string | readonly string[] =>
  isText(value) || (isTexts(value) && value.length > 0)
