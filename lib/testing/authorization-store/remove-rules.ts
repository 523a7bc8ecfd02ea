import { equal } from 'node:assert/strict'
import { random22 } from './examples'
import { storeRules } from './store-under-test'
import { find, save, threeVersions } from './version'

const rule = storeRules('remove:')

/** What a removal must keep. */
export const removeRules = [
  rule('removes the record, whatever its revision', async (store) => {
    const [first, second] = threeVersions()
    await save(store, first)
    await save(store, second, first)
    await store.remove(first.authorization.id)
    equal(await find(store, first), undefined)
  }),

  rule('may be repeated', async (store) => {
    const [first] = threeVersions()
    await save(store, first)
    await store.remove(first.authorization.id)
    await store.remove(first.authorization.id)
    equal(await find(store, first), undefined)
  }),

  rule('resolves where there never was a record', async (store) => {
    await store.remove(random22())
  }),
]
