import { isBoolean, OptionsReader } from '../protocol/configuration'
import { covers, parseScope, type Scope } from '../protocol/scope'

/** What a protected resource asks of a request. */
export interface Requirement {
  readonly scope: Scope
  /** Whether the token needs `all` of the scope's tokens or `any` one of them. */
  readonly match: 'all' | 'any'
  /** Whether a request without any token may pass. */
  readonly optional: boolean
}

/**
 * Reads what a host asks of a guard; an empty scope asks for any valid token.
 *
 * @param knownScope the scope of the server, where it is known: a misspelt one would refuse everybody.
 * @throws ConfigurationError that lists every mistake.
 */
export function parseRequirement(
  scope: unknown,
  options: unknown,
  knownScope: Scope | undefined,
): Requirement {
  const reading = new OptionsReader(options, '')
  const requirement = {
    scope: scopeOf(reading, scope, knownScope),
    match: reading.optional<Requirement['match']>('match', 'all', isMatch, "must be 'all' or 'any'."),
    optional: reading.optional('optional', false, isBoolean, 'must be true or false.'),
  }
  reading.refuseUnknown()
  reading.settle('A bearer guard cannot work:')
  return requirement
}

function scopeOf(reading: OptionsReader, scope: unknown, knownScope: Scope | undefined): Scope {
  if (scope === '') return []
  const parsed = typeof scope === 'string' ? parseScope(scope) : undefined
  if (parsed === undefined)
    reading.wrong(
      'scope',
      "must be scope tokens with one space between two, as in bearerGuard('photos:read').",
    )
  else if (knownScope !== undefined && !covers(knownScope, parsed))
    reading.wrong('scope', `must hold scopes of this server: ${knownScope.join(', ')}.`)
  return parsed ?? []
}

const isMatch = (value: unknown): value is Requirement['match'] => value === 'all' || value === 'any'
