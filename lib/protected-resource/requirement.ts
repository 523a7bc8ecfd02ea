import { ConfigurationError } from '../protocol/configuration'
import { covers, parseScope, type Scope } from '../protocol/scope'

/** What a protected resource asks of an access token. */
export interface Requirement {
  readonly scope: Scope
  /** Whether the token needs `all` of the scope's tokens or `any` one of them. */
  readonly match: 'all' | 'any'
}

/**
 * Reads what a host asks of a guard; an empty scope asks for any valid token.
 *
 * @param knownScope the scope of the server, where it is known: a misspelt scope would refuse everybody.
 * @throws ConfigurationError
 */
export function parseRequirement(scope: unknown, match: unknown, knownScope: Scope | undefined): Requirement {
  const parsed = scope === '' ? [] : parseScope(typeof scope === 'string' ? scope : '')
  if (parsed === undefined)
    throw faulty(
      'scope',
      "must be scope tokens with one space between two, as in bearerGuard('photos:read').",
    )
  if (knownScope !== undefined && !covers(knownScope, parsed))
    throw faulty('scope', `must hold scopes of this server: ${knownScope.join(', ')}.`)
  if (match !== 'all' && match !== 'any') throw faulty('match', "must be 'all' or 'any'.")
  return { scope: parsed, match }
}

const faulty = (path: string, problem: string) =>
  new ConfigurationError('A bearer guard cannot work:', [{ path, problem }])
