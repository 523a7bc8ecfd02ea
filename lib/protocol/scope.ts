import { isTexts } from '../primitives/values'
import { type Field, kind, optional } from '../primitives/schema'
import type { Observed, OAuthError } from './oauth-error'
import { refused, type RefusalName } from './refusals'
import { isTooLong, type Parameters } from './parameters'

/** Each token once, in the order of the request, which means nothing (RFC 6749 3.3). */
export type Scope = readonly string[]

// RFC 6749 3.3: scope-token = 1*( %x21 / %x23-5B / %x5D-7E ), one space between two.
const grammar = /^[\x21\x23-\x5B\x5D-\x7E]+(?: [\x21\x23-\x5B\x5D-\x7E]+)*$/

export function parseScope(text: string): Scope | undefined {
  if (!grammar.test(text)) return undefined
  return text.includes(' ') ? [...new Set(text.split(' '))] : [text]
}

/** OpenID Connect Core 11: clients of other servers ask so for a refresh token. */
export const offlineAccess = 'offline_access'

/** Also bounds the length, as of the parameter. */
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

/** For a result of a host, which may only narrow. */
export const scopeWithin = (whole: string): Field<unknown, Scope> =>
  optional(
    kind(
      (value: unknown, scope: Scope) => isTexts(value) && covers(scope, value),
      `must be a list of scope tokens, all within ${whole}.`,
    ),
  )

export const distinct = (scope: Scope): Scope => (scope.length < 2 ? scope : [...new Set(scope)])

export const formatScope = (scope: Scope): string => (scope.length < 2 ? (scope[0] ?? '') : scope.join(' '))

/** Case-sensitive. */
export const covers = (whole: Scope, part: Scope): boolean => part.every((token) => whole.includes(token))

export const intersects = (whole: Scope, part: Scope): boolean => part.some((token) => whole.includes(token))

/**
 * The scope to grant: the requested one, or the server's default as far as the client has it (RFC 6749 3.3).
 *
 * @param requested undefined if the request names none.
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

/** Leaves a scope that would be empty as it is. */
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

// It stands in URLs.
const longestNamed = 128

/**
 * The client learns the first token that fails, its own and without need of an escape; only the warning has the rest.
 */
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
