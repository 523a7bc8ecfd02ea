import { equal } from 'node:assert/strict'
import { same } from '../same'
import { storeRules } from './store-under-test'
import { find, save, threeVersions } from './version'

const rule = storeRules('save on condition that it was done, its own revision being the expected one')

/** What a save must keep that only makes sure: after trouble, and before an answer is given again. */
export const confirmationRules = [
  rule('resolves to true where it was done, and changes nothing', async (store) => {
    const [first, second] = threeVersions()
    await save(store, first)
    await save(store, second, first)
    equal(await save(store, second, second), true)
    same(await find(store, first), second)
  }),

  rule('is refused where it was not done, and brings nothing about', async (store) => {
    const [first, second] = threeVersions()
    equal(await save(store, first, first), false)
    equal(await find(store, first), undefined)
    await save(store, first)
    equal(await save(store, second, second), false)
    same(await find(store, first), first)
  }),

  rule('is refused after the record was removed, and does not bring it back', async (store) => {
    const [first] = threeVersions()
    await save(store, first)
    await store.remove(first.authorization.id)
    equal(await save(store, first, first), false)
    equal(await find(store, first), undefined)
  }),
]
