import { checked, type Field, optional, type Place, rows, shape } from '../primitives/schema'
import { aCall, aText, someCalls, yesOrNo } from '../primitives/fields'
import type { Resources } from '../extensions/resource-indicators/resources'
import { cureForOffer } from '../protocol/plug-in-names'
import { type AccessTokenFormat, type AccessTokenReader, opaqueFormat } from '../protocol/access-token-format'
import { listed, type Sources } from './open-plug-ins'

const readerFields = { name: aText, decode: aCall(), ...someCalls('read') }
const readerShape = shape<AccessTokenReader>(readerFields, 'ignored')
const formatShape = shape<AccessTokenFormat>(
  { ...readerFields, encode: aCall(), issues: optional(yesOrNo) },
  'ignored',
)

export const resolveFormats = (sources: Sources): readonly AccessTokenFormat[] =>
  resolved(sources, formatShape)

/** For guards, which write no token. */
export const resolveReaders = (sources: Sources): readonly AccessTokenReader[] =>
  resolved(sources, readerShape)

function resolved<Format extends AccessTokenReader>(
  sources: Sources,
  format: Field<Format | undefined>,
): readonly Format[] {
  const taken = new Set<string>()
  const distinct = checked(format, ({ name }, wrong) => {
    if (name === opaqueFormat) wrong('.name', `is "${name}", which stands for tokens without a format.`)
    else if (taken.has(name)) wrong('.name', `is "${name}", which another format has already.`)
    taken.add(name)
  })
  return listed(sources, 'accessTokenFormats', rows(distinct, 'access token formats'))
}

/** The format of new tokens for which nothing chooses one; undefined for opaque tokens. */
export function usualFormatOf(formats: readonly AccessTokenFormat[]): string | undefined {
  return formats.find(({ issues = true }) => issues)?.name
}

export function checkFormatsOf(
  at: Place,
  resources: Resources | undefined,
  formats: readonly AccessTokenFormat[],
): void {
  const names = [...formats.map(({ name }) => name), opaqueFormat]
  for (const { uri, accessTokenFormat } of resources?.all ?? [])
    if (accessTokenFormat !== undefined && !names.includes(accessTokenFormat))
      at.wrong(
        `resources["${uri}"].accessTokenFormat`,
        `is "${accessTokenFormat}", but must be one of ${names.join(', ')}.${cureForOffer(accessTokenFormat)}`,
      )
}
