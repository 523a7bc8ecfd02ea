import type { Store } from '../../../lib/index'

/** The store, with other verbs in place of its own. */
export function but<Kept extends Store>(store: Kept, verbs: Partial<Store>): Kept {
  const other: Kept = Object.create(store)
  for (const name of ['read', 'write', 'remove', 'add', 'list'] as const)
    Object.defineProperty(other, name, { value: verbs[name] ?? store[name].bind(store) })
  return Object.defineProperties(
    other,
    Object.fromEntries(Object.entries(verbs).map(([name, value]) => [name, { value }])),
  )
}
