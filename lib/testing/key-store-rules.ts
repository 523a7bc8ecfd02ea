import { deepEqual, equal } from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import type { KeyStore } from '../stores/key-store'
import { type ContractRule, pass, type UnderTest } from './contract-rule'

export interface KeyStoreUnderTest extends UnderTest {
  readonly keys: KeyStore
}

type Scene = ReturnType<typeof sceneOf>

function sceneOf(underTest: KeyStoreUnderTest, odd: string) {
  const { keys } = underTest
  const name = randomUUID() + odd
  return {
    keys,
    name,
    find: () => keys.find(name),
    save: (text: string, revision: string, expected?: string) => keys.save(name, text, revision, expected),
    pass: (seconds: number) => pass(underTest, seconds),
  }
}

function rule(
  title: string,
  run: (scene: Scene) => Promise<void>,
  odd = '',
): ContractRule<KeyStoreUnderTest> {
  return { title, run: (underTest) => run(sceneOf(underTest, odd)) }
}

const newRevision = () => randomBytes(16).toString('base64url')

export const keyStoreRules: readonly ContractRule<KeyStoreUnderTest>[] = [
  rule('find resolves to undefined for a name without a text', async ({ find }) => {
    equal(await find(), undefined)
  }),

  rule('save without a revision stores a text that is not there yet, and find returns it', async (scene) => {
    const [first, second] = [newRevision(), newRevision()]
    equal(await scene.save('one', first), true)
    equal(await scene.save('two', second), false)
    deepEqual(await scene.find(), { text: 'one', revision: first })
    equal(await scene.keys.find(`${scene.name}:other`), undefined)
  }),

  rule('save with a revision replaces the text of this revision, and no other', async ({ save, find }) => {
    const [first, second, third] = [newRevision(), newRevision(), newRevision()]
    equal(await save('one', first, newRevision()), false)
    equal(await find(), undefined)
    await save('one', first)
    equal(await save('two', second, first), true)
    equal(await save('three', third, first), false)
    deepEqual(await find(), { text: 'two', revision: second })
  }),

  rule('save resolves to true if an earlier call with this revision succeeded', async ({ save, find }) => {
    const [first, second] = [newRevision(), newRevision()]
    await save('one', first)
    equal(await save('one', first), true)
    await save('two', second, first)
    equal(await save('two', second, first), true)
    deepEqual(await find(), { text: 'two', revision: second })
  }),

  rule('save lets one of 50 parallel creations succeed', async ({ save, find }) => {
    const revisions = Array.from({ length: 50 }, newRevision)
    const saved = await Promise.all(revisions.map((revision) => save(revision, revision)))
    equal(saved.filter(Boolean).length, 1)
    const revision = revisions[saved.indexOf(true)]
    deepEqual(await find(), { text: revision, revision })
  }),

  rule('save lets one of 50 parallel replacements succeed', async ({ save, find }) => {
    const first = newRevision()
    await save('one', first)
    const revisions = Array.from({ length: 50 }, newRevision)
    const saved = await Promise.all(revisions.map((revision) => save(revision, revision, first)))
    equal(saved.filter(Boolean).length, 1)
    equal((await find())?.revision, revisions[saved.indexOf(true)])
  }),

  rule('a text of 100 000 characters comes back as it was, with every character', async ({ save, find }) => {
    const text = '{"key":"ü \u0000 \u{1F511}"}'.padEnd(100_000, '.')
    await save(text, newRevision())
    equal((await find())?.text, text)
  }),

  rule('a text does not expire', async ({ save, find, pass: wait }) => {
    await save('one', newRevision())
    await wait(3)
    equal((await find())?.text, 'one')
  }),

  ...['__proto__', 'constructor', 'ü:{tag}'].map((odd) =>
    rule(
      `a name that contains ${JSON.stringify(odd)} works like any other`,
      async ({ save, find }) => {
        equal(await save('one', newRevision()), true)
        equal((await find())?.text, 'one')
      },
      odd,
    ),
  ),
]
