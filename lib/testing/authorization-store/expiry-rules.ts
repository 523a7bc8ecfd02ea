import { equal } from 'node:assert/strict'
import { pass, type ContractRule } from '../rule'
import { same } from '../same'
import { activeRecord, approvedRecord, deniedRecord, everyKind, inSeconds, pendingRecord } from './examples'
import type { StoreUnderTest } from './store-under-test'
import { findRecord, saveRecord, version } from './version'

// Enough for a slow database to save a few records, and little enough to be waited for.
const soon = 5
const pastSoon = 6

/** What must be so when time passes. */
export const expiryRules: readonly ContractRule<StoreUnderTest>[] = [
  {
    title: 'expiry: a record of whatever kind is found until its last credential dies, and not after',
    async run(underTest) {
      const { store } = underTest
      const mortal = everyKind.map(([, make]) => version(make(inSeconds(soon))))
      const lasting = everyKind.map(([, make]) => version(make(inSeconds(600))))
      await Promise.all([...mortal, ...lasting].map((one) => saveRecord(store, one)))
      for (const one of mortal) same(await findRecord(store, one), one)
      await pass(underTest, pastSoon)
      for (const one of mortal) equal(await findRecord(store, one), undefined, one.authorization.state)
      for (const one of lasting) same(await findRecord(store, one), one)
    },
  },
  {
    title: 'expiry follows the record that was saved last, be it for longer or for shorter',
    async run(underTest) {
      const { store } = underTest
      const extended = version(approvedRecord(inSeconds(soon)))
      const shortened = version(pendingRecord(inSeconds(600)))
      const decided = version(pendingRecord(inSeconds(600)))
      for (const one of [extended, shortened, decided]) await saveRecord(store, one)
      const longer = version(activeRecord(inSeconds(600), { id: extended.authorization.id }))
      await saveRecord(store, longer, extended)
      await saveRecord(
        store,
        version(deniedRecord(inSeconds(soon), { id: shortened.authorization.id })),
        shortened,
      )
      await saveRecord(
        store,
        version(approvedRecord(inSeconds(soon), { id: decided.authorization.id })),
        decided,
      )
      await pass(underTest, pastSoon)
      same(await findRecord(store, longer), longer)
      equal(await findRecord(store, shortened), undefined)
      equal(await findRecord(store, decided), undefined, 'a decided request came back after its code')
    },
  },
  {
    title: 'expiry makes a record one that is not there: it cannot be replaced, and may be created',
    async run(underTest) {
      const { store } = underTest
      const expired = version(approvedRecord(inSeconds(soon)))
      await saveRecord(store, expired)
      await pass(underTest, pastSoon)
      const next = version(activeRecord(inSeconds(600), { id: expired.authorization.id }))
      equal(await saveRecord(store, next, expired), false)
      equal(await findRecord(store, next), undefined)
      equal(await saveRecord(store, next), true)
      same(await findRecord(store, next), next)
    },
  },
]
