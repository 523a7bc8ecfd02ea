import { equal } from 'node:assert/strict'
import { same } from '../same'
import { storeRules } from './store-under-test'
import { find, save, threeVersions } from './version'

const rule = storeRules('save without an expected revision')

/** What a save must keep that creates a record. */
export const creationRules = [
  rule('creates the record', async (store) => {
    const [first] = threeVersions()
    equal(await save(store, first), true)
    same(await find(store, first), first)
  }),

  rule('is refused where there is a record, and overwrites nothing', async (store) => {
    const [first, second] = threeVersions()
    await save(store, first)
    equal(await save(store, second), false)
    same(await find(store, first), first)
  }),

  rule('resolves to true when it is repeated, and changes nothing', async (store) => {
    const [first] = threeVersions()
    await save(store, first)
    equal(await save(store, first), true)
    same(await find(store, first), first)
  }),

  rule('is refused when it is repeated after another writer moved the record on', async (store) => {
    const [first, second] = threeVersions()
    await save(store, first)
    await save(store, second, first)
    equal(await save(store, first), false)
    same(await find(store, first), second)
  }),
]
