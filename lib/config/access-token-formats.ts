import type { Resources } from '../extensions/resource-indicators/resources'
import type { OptionsReader } from '../primitives/options-reader'
import { isBoolean, isAbsentOr, isRecord, isText } from '../primitives/values'
import { cureForOffer } from '../protocol/plug-in-names'
import { type AccessTokenFormat, type AccessTokenReader, opaqueFormat } from '../protocol/access-token-format'

const option = 'accessTokenFormats'

export function resolveFormats(sources: readonly OptionsReader[]): readonly AccessTokenFormat[] {
  const message = 'must be a list of access token formats, each with name, encode and decode.'
  return resolved(sources, isFormats, message)
}

export function resolveReaders(sources: readonly OptionsReader[]): readonly AccessTokenReader[] {
  return resolved(sources, isReaders, 'must be a list of access token formats, each with name and decode.')
}

function resolved<Format extends AccessTokenReader>(
  sources: readonly OptionsReader[],
  isList: (value: unknown) => value is readonly Format[],
  message: string,
): readonly Format[] {
  const taken = new Set<string>()
  const all: Format[] = []
  for (const reading of sources) {
    const given = reading.optional<readonly Format[]>(option, [], isList, message)
    for (const [index, { name }] of given.entries()) {
      const wrong = (what: string) => reading.wrong(`${option}[${index}].name`, `is "${name}", ${what}`)
      if (name === opaqueFormat) wrong('which stands for tokens without a format.')
      else if (taken.has(name)) wrong('which another format has already.')
      taken.add(name)
    }
    all.push(...given)
  }
  return Object.freeze(all)
}

/** The format of new tokens for which nothing chooses one; undefined for opaque tokens. */
export function usualFormatOf(formats: readonly AccessTokenFormat[]): string | undefined {
  return formats.find(({ issues = true }) => issues)?.name
}

export function checkFormatsOf(
  reading: OptionsReader,
  resources: Resources | undefined,
  formats: readonly AccessTokenFormat[],
): void {
  const names = [...formats.map(({ name }) => name), opaqueFormat]
  for (const { uri, accessTokenFormat } of resources?.all ?? [])
    if (accessTokenFormat !== undefined && !names.includes(accessTokenFormat))
      reading.wrong(
        `resources["${uri}"].accessTokenFormat`,
        `is "${accessTokenFormat}", but must be one of ${names.join(', ')}.${cureForOffer(accessTokenFormat)}`,
      )
}

const isReader = (value: unknown): value is AccessTokenReader =>
  isRecord(value) &&
  isText(value['name']) &&
  typeof value['decode'] === 'function' &&
  isAbsentOr((read) => typeof read === 'function', value['read'])
const isFormat = (value: unknown): value is AccessTokenFormat =>
  isReader(value) &&
  'encode' in value &&
  typeof value.encode === 'function' &&
  isAbsentOr(isBoolean, 'issues' in value ? value.issues : undefined)
const isReaders = (value: unknown): value is readonly AccessTokenReader[] =>
  Array.isArray(value) && value.every(isReader)
const isFormats = (value: unknown): value is readonly AccessTokenFormat[] =>
  Array.isArray(value) && value.every(isFormat)
