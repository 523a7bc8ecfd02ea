import { isAuthorizationStore } from '../../lib/stores/authorization-store'
import { memoryStore } from '../../lib/stores/memory-store'

const verbs = { find: () => {}, save: () => {}, remove: () => {} }

test('a store has three verbs, and a fourth only if it is a function', () => {
  const stores = [
    memoryStore(),
    verbs,
    { ...verbs, getCached: () => undefined },
    { ...verbs, confirmAbsent: () => undefined },
  ]
  const others = [
    undefined,
    null,
    [],
    {},
    { ...verbs, find: 1 },
    { ...verbs, getCached: new Map() },
    { ...verbs, confirmAbsent: true },
  ]
  expect([...stores, ...others].filter((value) => isAuthorizationStore(value))).toEqual(stores)
})
