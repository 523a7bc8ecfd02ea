import { consentOfferName } from '../authorization-endpoint/consent-offer'
import { entryName } from '../authorization/owner-entries'
import { choicesName } from '../extensions/choices'
import { pkceName } from '../extensions/pkce'
import {
  resourceIndicators,
  resourceIndicatorsName,
} from '../extensions/resource-indicators/resource-indicators'
import type { Resources } from '../extensions/resource-indicators/resources'
import { aText, someCalls, yesOrNo } from '../primitives/fields'
import { type Fields, kind, optional, type Place, shape } from '../primitives/schema'
import { isTexts } from '../primitives/values'
import type { Extension } from '../protocol/extension'
import { extensionMetadata } from '../protocol/extension-metadata'
import { isToken } from '../protocol/http-authentication'
import { responseModeName } from '../protocol/response-types'
import { isScope, scopeExpectation } from '../protocol/scope'

/** A plug-in, or what its `open` has returned. */
export interface Source {
  readonly name: string
  readonly at: Place
}

/** In the order of the plug-ins. */
export type Sources = readonly Source[]

export function ofResources(resources: Resources | undefined, usualFormat?: string): readonly Extension[] {
  return resources === undefined ? [] : [resourceIndicators(resources, usualFormat)]
}

const takenNames = [pkceName, resourceIndicatorsName, choicesName]

export const isOwnExtension = ({ name }: Extension): boolean => takenNames.includes(name)

const parameterNames = kind(
  (value) => isTexts(value) && value.every((name) => /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(name)),
  'must be a list of names of parameters.',
)

export const headerNames = kind(
  (value) => isTexts(value) && value.every(isToken),
  'must be a list of names of headers.',
)

const fieldsOfDoors = {
  authorizationParameters: optional(parameterNames),
  tokenParameters: optional(parameterNames),
  credentialParameters: optional(parameterNames),
  ignoredScope: optional(kind(isScope, scopeExpectation)),
  metadata: optional(extensionMetadata),
  authorizationMetadata: optional(extensionMetadata),
  exposedHeaders: optional(headerNames),
  confirmationMethod: optional(aText),
  bindsRefreshTokens: optional(yesOrNo),
  ...someCalls('resolve', 'prepare', 'authorize', 'issue', 'respond'),
  ...someCalls('admit', 'describe'),
} satisfies Fields<Omit<Extension, 'name'>>

export const doors: readonly string[] = Object.keys(fieldsOfDoors)
export const guardDoors: readonly string[] = ['admit', 'describe', 'exposedHeaders', 'confirmationMethod']

const extensionShape = shape<Omit<Extension, 'name'>>(fieldsOfDoors)

/** Not the result of its `open`. */
const isNamed = (given: Omit<Extension, 'name'>): given is Extension => 'name' in given

/** Of each plug-in, at most one object. */
export function resolveExtensions(sources: Sources): readonly Extension[] {
  const taken = new Set<string>([...takenNames, entryName, consentOfferName, responseModeName])
  return Object.freeze(
    sources.flatMap(({ name, at }) => {
      if (!doors.some((door) => at.source[door] !== undefined)) return []
      const given = extensionShape(at.source, at, '')
      if (given === undefined) return []
      if (taken.has(name))
        at.wrong('name', `is "${name}", which another plug-in, or the server itself, has already.`)
      taken.add(name)
      return [isNamed(given) ? given : { ...given, name }]
    }),
  )
}
