import { equal } from 'node:assert/strict'
import { pass, type Rule } from '../rule'
import { same } from '../same'
import { active, approved, denied, everyKind, inSeconds, pending } from './examples'
import type { StoreUnderTest } from './store-under-test'
import { find, save, version } from './version'

// Enough for a slow database to save a few records, and little enough to be waited for.
const soon = 5
const pastSoon = 6

/** What must be so when time passes. */
export const expiryRules: readonly Rule<StoreUnderTest>[] = [
  {
    title: 'expiry: a record of whatever kind is found until its last credential dies, and not after',
    async run(underTest) {
      const { store } = underTest
      const mortal = everyKind.map(([, make]) => version(make(inSeconds(soon))))
      const lasting = everyKind.map(([, make]) => version(make(inSeconds(600))))
      await Promise.all([...mortal, ...lasting].map((one) => save(store, one)))
      for (const one of mortal) same(await find(store, one), one)
      await pass(underTest, pastSoon)
      for (const one of mortal) equal(await find(store, one), undefined, one.authorization.state)
      for (const one of lasting) same(await find(store, one), one)
    },
  },
  {
    title: 'expiry follows the record that was saved last, be it for longer or for shorter',
    async run(underTest) {
      const { store } = underTest
      const extended = version(approved(inSeconds(soon)))
      const shortened = version(pending(inSeconds(600)))
      const decided = version(pending(inSeconds(600)))
      for (const one of [extended, shortened, decided]) await save(store, one)
      const longer = version(active(inSeconds(600), { id: extended.authorization.id }))
      await save(store, longer, extended)
      await save(store, version(denied(inSeconds(soon), { id: shortened.authorization.id })), shortened)
      await save(store, version(approved(inSeconds(soon), { id: decided.authorization.id })), decided)
      await pass(underTest, pastSoon)
      same(await find(store, longer), longer)
      equal(await find(store, shortened), undefined)
      equal(await find(store, decided), undefined, 'a decided request came back after its code')
    },
  },
  {
    title: 'expiry makes a record one that is not there: it cannot be replaced, and may be created',
    async run(underTest) {
      const { store } = underTest
      const expired = version(approved(inSeconds(soon)))
      await save(store, expired)
      await pass(underTest, pastSoon)
      const next = version(active(inSeconds(600), { id: expired.authorization.id }))
      equal(await save(store, next, expired), false)
      equal(await find(store, next), undefined)
      equal(await save(store, next), true)
      same(await find(store, next), next)
    },
  },
]
