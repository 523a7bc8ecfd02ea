import { equal } from 'node:assert/strict'
import { same } from '../same'
import { random22, swapCase } from './examples'
import { storeRules } from './store-under-test'
import { findRecord, saveRecord, threeVersions } from './version'

const replacementRule = storeRules('save with an expected revision')

const wrongRevisions: readonly (readonly [which: string, wrong: (right: string) => string])[] = [
  ['one that never was', random22],
  ['the right one in the other letter case', swapCase],
  ['the beginning of the right one', (right) => right.slice(0, -1)],
  ['an empty one', () => ''],
]

/** What a save must keep that moves a record on. */
export const replacementRules = [
  replacementRule('replaces the record that has it', async (store) => {
    const [first, second, third] = threeVersions()
    await saveRecord(store, first)
    equal(await saveRecord(store, second, first), true)
    same(await findRecord(store, first), second)
    equal(await saveRecord(store, third, second), true)
    same(await findRecord(store, first), third)
  }),

  ...wrongRevisions.map(([which, wrong]) =>
    replacementRule(
      `is refused where the record has another, and changes nothing: ${which}`,
      async (store) => {
        const [first, second] = threeVersions()
        await saveRecord(store, first)
        equal(await store.save(second.authorization, second.revision, wrong(first.revision)), false)
        same(await findRecord(store, first), first)
      },
    ),
  ),

  replacementRule('is refused where another writer was first, and changes nothing', async (store) => {
    const [first, second, third] = threeVersions()
    await saveRecord(store, first)
    await saveRecord(store, second, first)
    equal(await saveRecord(store, third, first), false)
    same(await findRecord(store, first), second)
  }),

  replacementRule('is refused where there never was a record, and creates none', async (store) => {
    const [first, second] = threeVersions()
    equal(await saveRecord(store, second, first), false)
    equal(await findRecord(store, first), undefined)
  }),

  replacementRule('is refused where the record was removed, and does not bring it back', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    await store.remove(first.authorization.id)
    equal(await saveRecord(store, second, first), false)
    equal(await findRecord(store, first), undefined)
  }),

  replacementRule('resolves to true when it is repeated, and changes nothing', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    await saveRecord(store, second, first)
    equal(await saveRecord(store, second, first), true)
    same(await findRecord(store, first), second)
  }),

  replacementRule(
    'is refused when it is repeated after another writer moved the record on',
    async (store) => {
      const [first, second, third] = threeVersions()
      await saveRecord(store, first)
      await saveRecord(store, second, first)
      await saveRecord(store, third, second)
      equal(await saveRecord(store, second, first), false)
      same(await findRecord(store, first), third)
    },
  ),

  replacementRule('is refused when it is repeated after the record was removed', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    await saveRecord(store, second, first)
    await store.remove(first.authorization.id)
    equal(await saveRecord(store, second, first), false)
    equal(await findRecord(store, first), undefined)
  }),
]
