import type { OptionsReader } from '../primitives/options-reader'
import { isRecord, isText } from '../primitives/values'
import type { ResponseMode } from '../protocol/response-modes'

export function resolveResponseModes(parts: readonly OptionsReader[]): readonly ResponseMode[] {
  const modes: ResponseMode[] = []
  for (const reading of parts)
    for (const mode of reading.optional('responseModes', [], areResponseModes, responseModesMessage)) {
      const isTaken = [...builtInModes, ...modes.map(({ name }) => name)].includes(mode.name)
      if (isTaken) reading.wrong('responseModes', `has "${mode.name}", which the server has already.`)
      else modes.push(mode)
    }
  return Object.freeze(modes)
}

const builtInModes = ['query', 'fragment']
const responseModesMessage = "must be a list of response modes: name, and carrier 'form'."
const areResponseModes = (value: unknown): value is readonly ResponseMode[] =>
  Array.isArray(value) && value.every(isResponseMode)
const isResponseMode = (value: unknown): value is ResponseMode =>
  isRecord(value) &&
  isText(value['name']) &&
  /^[a-z\d_.]+$/.test(value['name']) &&
  value['carrier'] === 'form'
