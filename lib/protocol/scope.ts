import type { Client } from './client'
import { invalidScope } from './oauth-error'
import { isTooLong } from './parameters'

/** Scope tokens in the order in which they were asked for, each once. Order carries no meaning (RFC 6749 3.3). */
export type Scope = readonly string[]

// RFC 6749 3.3: scope-token = 1*( %x21 / %x23-5B / %x5D-7E ), one space between two.
const grammar = /^[\x21\x23-\x5B\x5D-\x7E]+(?: [\x21\x23-\x5B\x5D-\x7E]+)*$/

/** Reads a scope; undefined when the text breaks the grammar: double spaces, tabs, quotes, non-ASCII. */
export function parseScope(text: string): Scope | undefined {
  if (!grammar.test(text)) return undefined
  return text.includes(' ') ? [...new Set(text.split(' '))] : [text]
}

/** Whether the value is a list of scope tokens, at least one, that is no longer than the parameter may be. */
export function isScope(value: unknown): value is Scope {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((token) => typeof token === 'string' && parseScope(token)?.[0] === token) &&
    !isTooLong('scope', value.join(' '))
  )
}

/** What cures a scope that is none, as the rest of a sentence. */
export const scopeCure =
  'must be a list of scope tokens (RFC 6749 3.3), at least one, 4096 characters in all.'

/** The same tokens, each once. */
export function distinct(scope: Scope): Scope {
  return scope.length < 2 ? scope : [...new Set(scope)]
}

/** Writes a scope as it stands on the wire. */
export function formatScope(scope: Scope): string {
  const [only = '', second] = scope
  return second === undefined ? only : scope.join(' ')
}

/** Whether every token of `part` is in `whole`; the tokens are case-sensitive. */
export function covers(whole: Scope, part: Scope): boolean {
  return part.every((token) => whole.includes(token))
}

/** Whether both have the same tokens, in whatever order. */
export function isSameScope(one: Scope, other: Scope): boolean {
  return one.length === other.length && covers(one, other)
}

/** Whether `whole` has at least one token of `part`. */
export function intersects(whole: Scope, part: Scope): boolean {
  return part.some((token) => whole.includes(token))
}

/**
 * The scope that a request may ask of the server: what it names, or the server's default (RFC 6749 3.3).
 *
 * @throws OAuthError `invalid_scope` when it is malformed, unknown or not this client's to ask for.
 */
export function grantableScope(requested: string | undefined, client: Client, defaultScope: Scope): Scope {
  if (requested === undefined) {
    const scope = defaultScope.filter((token) => client.scope.includes(token))
    if (scope.length === 0)
      throw invalidScope('scope_missing', 'The request names no scope and there is no default.')
    return scope
  }
  const scope = parseScope(requested)
  if (scope === undefined) throw invalidScope('scope_malformed', 'The scope is malformed.')
  requireScope(client, scope)
  return scope
}

/** Refuses a scope that is not, or no longer, the client's to ask for. @throws OAuthError `invalid_scope` */
export function requireScope(client: Client, scope: Scope): void {
  if (!covers(client.scope, scope))
    throw invalidScope('scope_not_allowed', 'The scope is unknown or not open to the client.')
}
