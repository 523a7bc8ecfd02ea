import { equal } from 'node:assert/strict'
import { random22 } from './examples'
import { storeRules } from './store-under-test'
import { findRecord, saveRecord, threeVersions } from './version'

const removeRule = storeRules('remove:')

/** What a removal must keep. */
export const removeRules = [
  removeRule('removes the record, whatever its revision', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    await saveRecord(store, second, first)
    await store.remove(first.authorization.id)
    equal(await findRecord(store, first), undefined)
  }),

  removeRule('may be repeated', async (store) => {
    const [first] = threeVersions()
    await saveRecord(store, first)
    await store.remove(first.authorization.id)
    await store.remove(first.authorization.id)
    equal(await findRecord(store, first), undefined)
  }),

  removeRule('resolves where there never was a record', async (store) => {
    await store.remove(random22())
  }),
]
