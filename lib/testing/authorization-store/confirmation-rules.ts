import { equal } from 'node:assert/strict'
import { same } from '../same'
import { storeRules } from './store-under-test'
import { findRecord, saveRecord, threeVersions } from './version'

const confirmationRule = storeRules(
  'save on condition that it was done, its own revision being the expected one',
)

/** What a save must keep that only makes sure: after trouble, and before an answer is given again. */
export const confirmationRules = [
  confirmationRule('resolves to true where it was done, and changes nothing', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    await saveRecord(store, second, first)
    equal(await saveRecord(store, second, second), true)
    same(await findRecord(store, first), second)
  }),

  confirmationRule('is refused where it was not done, and brings nothing about', async (store) => {
    const [first, second] = threeVersions()
    equal(await saveRecord(store, first, first), false)
    equal(await findRecord(store, first), undefined)
    await saveRecord(store, first)
    equal(await saveRecord(store, second, second), false)
    same(await findRecord(store, first), first)
  }),

  confirmationRule('is refused after the record was removed, and does not bring it back', async (store) => {
    const [first] = threeVersions()
    await saveRecord(store, first)
    await store.remove(first.authorization.id)
    equal(await saveRecord(store, first, first), false)
    equal(await findRecord(store, first), undefined)
  }),
]
