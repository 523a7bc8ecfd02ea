import { type Field, kind, usual } from '../primitives/schema'
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
  // The loop also visits what it adds.
  for (const token of implied) for (const next of direct.get(token) ?? []) implied.add(next)
  return [...implied]
}
