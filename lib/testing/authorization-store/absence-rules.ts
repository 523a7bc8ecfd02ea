import { equal } from 'node:assert/strict'
import { confirmAbsence } from '../../stores/authorization-store'
import { same } from '../same'
import { random22 } from './examples'
import { storeRules } from './store-under-test'
import { findRecord, saveRecord, threeVersions } from './version'

const absenceRule = storeRules('confirmAbsent, where a store has it:')

/** What a confirmation must keep that nothing is there; a store without the verb keeps it by having none. */
export const absenceRules = [
  absenceRule('resolves to true where there never was a record, and leaves none', async (store) => {
    const id = random22()
    equal(await confirmAbsence(store, id), true)
    equal(await store.find(id), undefined)
  }),

  absenceRule('resolves to true after the record was removed, any number of times', async (store) => {
    const [first] = threeVersions()
    await saveRecord(store, first)
    await store.remove(first.authorization.id)
    equal(await confirmAbsence(store, first.authorization.id), true)
    equal(await confirmAbsence(store, first.authorization.id), true)
    equal(await findRecord(store, first), undefined)
  }),

  absenceRule('resolves to false where a record is, and leaves it as it is', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    await saveRecord(store, second, first)
    if (store.confirmAbsent !== undefined) equal(await store.confirmAbsent(first.authorization.id), false)
    same(await findRecord(store, first), second)
  }),
]
