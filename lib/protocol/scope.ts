import { isRecord, isTexts } from '../primitives/values'
import { type Field, type Fields, group, kind, needed, optional, usual } from '../primitives/schema'
import type { OAuthError, Observed } from './oauth-error'
import { type RefusalName, refused } from './refusals'
import { isTooLong, type Parameters } from './parameters'
import { aFlag, oneOf } from '../primitives/fields'
import { aLocalizedText, isLocalizedText, type Text } from './localized-text'

/** Each token once; the order means nothing (RFC 6749 3.3). */
export type Scope = readonly string[]

// RFC 6749 3.3.
const grammar = /^[\x21\x23-\x5B\x5D-\x7E]+(?: [\x21\x23-\x5B\x5D-\x7E]+)*$/

export function parseScope(text: string): Scope | undefined {
  if (!grammar.test(text)) return undefined
  return text.includes(' ') ? [...new Set(text.split(' '))] : [text]
}

/** OpenID Connect Core 11. */
export const offlineAccess = 'offline_access'

export function isScope(value: unknown): value is Scope {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((token) => typeof token === 'string' && parseScope(token)?.[0] === token) &&
    !isTooLong('scope', value.join(' '))
  )
}

export const scopeExpectation =
  'must be a list of at least one scope token (RFC 6749 3.3), at most 4096 characters in all.'

export const scopeWithin = (whole: string): Field<unknown, Scope> =>
  optional(
    kind(
      (value: unknown, scope: Scope) => isTexts(value) && covers(scope, value),
      `must be a list of scope tokens, all within ${whole}.`,
    ),
  )

export const distinct = (scope: Scope): Scope => (scope.length < 2 ? scope : [...new Set(scope)])

export const formatScope = (scope: Scope): string => (scope.length < 2 ? (scope[0] ?? '') : scope.join(' '))

export const covers = (whole: Scope, part: Scope): boolean => part.every((token) => whole.includes(token))

export const intersects = (whole: Scope, part: Scope): boolean => part.some((token) => whole.includes(token))

/**
 * The requested scope, or the server's default as far as the client has it (RFC 6749 3.3).
 *
 * @throws OAuthError `invalid_scope` if the scope is malformed, unknown or not open to the client, or nothing is left.
 */
export function grantableScope(
  requested: string | undefined,
  client: { readonly scope: Scope },
  defaultScope: Scope,
): Scope {
  if (requested === undefined) {
    const scope = defaultScope.filter((token) => client.scope.includes(token))
    if (scope.length === 0) throw refused('scope_missing')
    return scope
  }
  const scope = parseScope(requested)
  if (scope === undefined) throw malformedScope(requested)
  requireScope(client, scope)
  return scope
}

export const malformedScope = (text: string): OAuthError =>
  refused('scope_malformed', { 'scope of the request': text })

/** Leaves a scope that would be empty. */
export function withoutIgnoredScope(
  parameters: Parameters,
  client: { readonly scope: Scope },
  ignored: Scope,
): Parameters {
  if (ignored.length === 0) return parameters
  const asked = parameters.peek('scope')?.split(' ') ?? []
  const left = asked.filter((token) => client.scope.includes(token) || !ignored.includes(token))
  if (left.length === 0 || left.length === asked.length) return parameters
  return parameters.without(['scope']).with(new Map([['scope', left.join(' ')]]))
}

export function requireScope(client: { readonly scope: Scope }, scope: Scope): void {
  if (covers(client.scope, scope)) return
  const observed = { 'scope of the client': client.scope }
  throw scopeRefusal('scope_not_allowed', scope, client.scope, observed)
}

// URLs have it.
const longestNamed = 128

/** The client learns the first token that fails; only the warning has the rest. */
export function scopeRefusal(
  name: RefusalName,
  scope: Scope,
  available: Scope = [],
  observed: Observed = {},
): OAuthError {
  const failed = scope.find((token) => !available.includes(token)) ?? ''
  const named = failed.length > longestNamed ? '' : failed
  return refused(name, { scope: named, 'scope of the request': scope, ...observed })
}

export const unavailableScope = (scope: Scope): OAuthError =>
  scopeRefusal('scope_exceeded/unavailable', scope)

/** Over any number of steps, without the scope itself. */
export type ImpliedScopes = ReadonlyMap<string, Scope>

/** Maps a scope to those that it covers, as in `{ 'notes:write': ['notes:read'] }`. */
export type ScopeImplications = Readonly<Record<string, readonly string[]>>

export function withImplied(scope: Scope, implied: ImpliedScopes | undefined): Scope {
  if (implied === undefined) return scope
  return [...new Set(scope.flatMap((token) => [token, ...(implied.get(token) ?? [])]))]
}

export const scopeImplications =
  (known: Scope | undefined): Field<ImpliedScopes | undefined> =>
  (given, at, name) => {
    const direct = new Map(Object.entries(implications(given, at, name)))
    const unknown = [...direct].flat(2).find((token) => known?.includes(token) === false)
    if (unknown !== undefined)
      at.wrong(name, `names "${unknown}", which is not a scope of this server: ${known?.join(', ')}.`)
    if (direct.size === 0) return undefined
    const implied = new Map([...direct.keys()].map((token) => [token, impliedBy(token, direct)]))
    // A cycle would let the smallest scope do what the largest does.
    const [circular] = [...implied].find(([token, others]) => others.includes(token)) ?? []
    if (circular !== undefined)
      at.wrong(name, `lets "${circular}" imply itself. Name only smaller scopes under a scope.`)
    return implied
  }

const implications = usual<ScopeImplications>(
  {},
  kind(
    (value): value is ScopeImplications =>
      isRecord(value) &&
      Object.entries(value).every(([token, implied]) => isScope([token]) && isScope(implied)),
    "must map scopes to lists of scopes, such as { 'notes:write': ['notes:read'] }.",
  ),
)

function impliedBy(scope: string, direct: ImpliedScopes): Scope {
  const implied = new Set(direct.get(scope))
  for (const token of implied) for (const next of direct.get(token) ?? []) implied.add(next)
  return [...implied]
}

/** Whether a client can look, change, or do what cannot be taken back. */
export type ScopeWeight = 'read' | 'write' | 'danger'

export interface ScopeOptions {
  /** For the consent page. */
  readonly description: Text
  /** A heading for scopes that belong together. */
  readonly group?: Text
  /** The page marks `write`, and shows `danger` last. Default `read`. */
  readonly weight?: ScopeWeight
  /** Whether the owner may approve all but this scope. Default `false`. */
  readonly optional?: boolean
  /**
   * Claims about the owner that this scope gives by `openIdConnect()`, such as `['groups']`; the consent page names
   * them. Default: those of OpenID Connect Core 5.4.
   */
  readonly claims?: readonly string[]
}

export type ScopeDescription = ReturnType<typeof scopeOptions>

export const scopeDescriptions: Field<ReadonlyMap<string, ScopeDescription>> = (given, at, name) => {
  const scopes = new Map<string, ScopeDescription>()
  for (const [token, description] of Object.entries(scopeTable(given, at, name))) {
    if (parseScope(token)?.length !== 1)
      at.wrong(
        name,
        `names "${token}", which is not a scope token: printable ASCII without space, quote and backslash.`,
      )
    scopes.set(token, scopeDescription(description, at, `${name}["${token}"]`))
  }
  return scopes
}

const scopeTable = needed(
  {},
  kind(
    (value): value is Readonly<Record<string, unknown>> => isRecord(value) && Object.keys(value).length > 0,
    "must be an object of scope and description, such as { 'photos:read': 'See your photos' }.",
  ),
)

const scopeDescription: Field<ScopeDescription> = (given, at, name) => {
  // No language tag has eleven letters.
  if (isRecord(given) && Object.hasOwn(given, 'description')) return scopeOptions(given, at, name)
  const description = needed('', kind(isLocalizedText, descriptionCure))(given, at, name)
  return { description, group: undefined, weight: 'read', optional: false, claims: [] }
}

const descriptionCure =
  "must be a text, texts by language such as { en: 'See your photos' }, or { description, group, weight, optional, claims }."

// No spaces, so that no sentence stands on the page.
export const isClaimName = (name: string): boolean => /^[\w.:/#-]{1,100}$/.test(name)

export const claimsAtMost = 50
const areClaimNames = (value: unknown): value is readonly string[] =>
  isTexts(value) && value.length <= claimsAtMost && value.every(isClaimName)
const claimNamesExpectation = `must be a list of at most ${claimsAtMost} names of claims, such as ['groups'].`

const scopeOptions = group({
  description: needed<Text>('', aLocalizedText),
  group: optional(aLocalizedText),
  weight: usual<ScopeWeight>('read', oneOf('read', 'write', 'danger')),
  optional: aFlag(false),
  claims: usual<readonly string[]>([], kind(areClaimNames, claimNamesExpectation)),
} satisfies Fields<ScopeOptions>)
