import type { OptionsReader } from '../primitives/options-reader'
import { isRecord } from '../primitives/values'
import { isScope, type Scope } from './scope'

/** What each scope implies, over any number of steps, without itself. */
export type ImpliedScopes = ReadonlyMap<string, Scope>

/** The option `implies`: maps a scope to the scopes that it covers, as in `{ 'notes:write': ['notes:read'] }`. */
export type ScopeImplications = Readonly<Record<string, readonly string[]>>

export function withImplied(scope: Scope, implied: ImpliedScopes | undefined): Scope {
  if (implied === undefined) return scope
  return [...new Set(scope.flatMap((token) => [token, ...(implied.get(token) ?? [])]))]
}

const cure = "must map scopes to lists of scopes, such as { 'notes:write': ['notes:read'] }."

export function readImplications(
  reading: OptionsReader,
  knownScope: Scope | undefined,
): ImpliedScopes | undefined {
  const key = 'implies'
  const given = reading.optional<ScopeImplications>(key, {}, isScopeImplications, cure)
  const direct = new Map(Object.entries(given))
  const unknown = [...direct].flat(2).find((token) => knownScope?.includes(token) === false)
  if (unknown !== undefined)
    reading.wrong(key, `names "${unknown}", which is not a scope of this server: ${knownScope?.join(', ')}.`)
  if (direct.size === 0) return undefined
  const implied = new Map([...direct.keys()].map((token) => [token, impliedBy(token, direct)]))
  // A cycle would let the smallest scope do what the largest does.
  const [circular] = [...implied].find(([token, others]) => others.includes(token)) ?? []
  if (circular !== undefined)
    reading.wrong(key, `lets "${circular}" imply itself. Name only smaller scopes under a scope.`)
  return implied
}

function impliedBy(scope: string, direct: ImpliedScopes): Scope {
  const implied = new Set(direct.get(scope))
  // The loop also visits what it adds.
  for (const token of implied) for (const next of direct.get(token) ?? []) implied.add(next)
  return [...implied]
}

const isScopeImplications = (value: unknown): value is ScopeImplications =>
  isRecord(value) && Object.entries(value).every(([token, implied]) => isScope([token]) && isScope(implied))
