import { equal } from 'node:assert/strict'
import { same } from '../same'
import { random22, swapCase } from './examples'
import { storeRules } from './store-under-test'
import { find, save, threeVersions } from './version'

const rule = storeRules('save with an expected revision')

const wrongRevisions: readonly (readonly [which: string, wrong: (right: string) => string])[] = [
  ['one that never was', random22],
  ['the right one in the other letter case', swapCase],
  ['the beginning of the right one', (right) => right.slice(0, -1)],
  ['an empty one', () => ''],
]

/** What a save must keep that moves a record on. */
export const replacementRules = [
  rule('replaces the record that has it', async (store) => {
    const [first, second, third] = threeVersions()
    await save(store, first)
    equal(await save(store, second, first), true)
    same(await find(store, first), second)
    equal(await save(store, third, second), true)
    same(await find(store, first), third)
  }),

  ...wrongRevisions.map(([which, wrong]) =>
    rule(`is refused where the record has another, and changes nothing: ${which}`, async (store) => {
      const [first, second] = threeVersions()
      await save(store, first)
      equal(await store.save(second.authorization, second.revision, wrong(first.revision)), false)
      same(await find(store, first), first)
    }),
  ),

  rule('is refused where another writer was first, and changes nothing', async (store) => {
    const [first, second, third] = threeVersions()
    await save(store, first)
    await save(store, second, first)
    equal(await save(store, third, first), false)
    same(await find(store, first), second)
  }),

  rule('is refused where there never was a record, and creates none', async (store) => {
    const [first, second] = threeVersions()
    equal(await save(store, second, first), false)
    equal(await find(store, first), undefined)
  }),

  rule('is refused where the record was removed, and does not bring it back', async (store) => {
    const [first, second] = threeVersions()
    await save(store, first)
    await store.remove(first.authorization.id)
    equal(await save(store, second, first), false)
    equal(await find(store, first), undefined)
  }),

  rule('resolves to true when it is repeated, and changes nothing', async (store) => {
    const [first, second] = threeVersions()
    await save(store, first)
    await save(store, second, first)
    equal(await save(store, second, first), true)
    same(await find(store, first), second)
  }),

  rule('is refused when it is repeated after another writer moved the record on', async (store) => {
    const [first, second, third] = threeVersions()
    await save(store, first)
    await save(store, second, first)
    await save(store, third, second)
    equal(await save(store, second, first), false)
    same(await find(store, first), third)
  }),

  rule('is refused when it is repeated after the record was removed', async (store) => {
    const [first, second] = threeVersions()
    await save(store, first)
    await save(store, second, first)
    await store.remove(first.authorization.id)
    equal(await save(store, second, first), false)
    equal(await find(store, first), undefined)
  }),
]
