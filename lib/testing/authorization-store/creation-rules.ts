import { equal } from 'node:assert/strict'
import { same } from '../same'
import { storeRules } from './store-under-test'
import { findRecord, saveRecord, threeVersions } from './version'

const creationRule = storeRules('save without an expected revision')

/** What a save must keep that creates a record. */
export const creationRules = [
  creationRule('creates the record', async (store) => {
    const [first] = threeVersions()
    equal(await saveRecord(store, first), true)
    same(await findRecord(store, first), first)
  }),

  creationRule('is refused where there is a record, and overwrites nothing', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    equal(await saveRecord(store, second), false)
    same(await findRecord(store, first), first)
  }),

  creationRule('resolves to true when it is repeated, and changes nothing', async (store) => {
    const [first] = threeVersions()
    await saveRecord(store, first)
    equal(await saveRecord(store, first), true)
    same(await findRecord(store, first), first)
  }),

  creationRule('is refused when it is repeated after another writer moved the record on', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    await saveRecord(store, second, first)
    equal(await saveRecord(store, first), false)
    same(await findRecord(store, first), second)
  }),
]
