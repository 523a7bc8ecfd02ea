import { deepEqual, equal } from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { type AuthorizationIndex, entriesAtMost, type IndexEntry } from '../authorization/authorization-index'
import { type ContractRule, pass, type UnderTest } from './contract-rule'

export interface IndexUnderTest extends UnderTest {
  readonly index: AuthorizationIndex
}

type Scene = ReturnType<typeof sceneOf>

/** In the form of an owner or a client. */
export const anyOwner = (): string =>
  randomBytes(12).toString('base64url') + createHash('sha256').update(randomUUID()).digest('base64url')
const anyId = () => randomBytes(16).toString('base64url')

function sceneOf(underTest: IndexUnderTest) {
  const { index } = underTest
  const owner = anyOwner()
  return {
    index,
    owner,
    add: (entry: IndexEntry, seconds = 60, age = 0) => index.add(owner, entry, { seconds, age }),
    list: async () => sorted(await index.list(owner)),
    pass: (seconds: number) => pass(underTest, seconds),
  }
}

const sorted = (entries: readonly IndexEntry[]) =>
  entries.toSorted((one, other) => (one.authorizationId < other.authorizationId ? -1 : 1))

const entryFor = (clientId = 'client'): IndexEntry => ({ authorizationId: anyId(), clientId })

const rule = (title: string, run: (scene: Scene) => Promise<void>): ContractRule<IndexUnderTest> => ({
  title,
  run: (underTest) => run(sceneOf(underTest)),
})

export const indexEntryRules: readonly ContractRule<IndexUnderTest>[] = [
  rule('list resolves to an empty list for an owner without entries', async ({ list }) => {
    deepEqual(await list(), [])
  }),

  rule('list resolves to every entry of this owner, and of no other', async ({ index, add, list }) => {
    const entries = [entryFor('one'), entryFor('one'), entryFor('two')]
    for (const entry of entries) equal(await add(entry), 'added')
    await index.add(anyOwner(), entryFor(), { seconds: 60, age: 0 })
    deepEqual(await list(), sorted(entries))
  }),

  rule('add keeps one entry for one authorization, with the end that came last', async (scene) => {
    const entry = entryFor()
    await scene.add(entry, 0.1)
    await scene.add(entry, 60)
    await scene.pass(0.2)
    deepEqual(await scene.list(), [entry])
  }),

  rule('an entry is gone after its end, and others stay', async ({ add, list, pass: wait }) => {
    const [short, long] = [entryFor(), entryFor()]
    await add(long, 60)
    await add(short, 0.1)
    await wait(0.2)
    deepEqual(await list(), [long])
  }),

  rule('add keeps every one of 100 entries that come at once', async ({ add, list }) => {
    const entries = Array.from({ length: 100 }, () => entryFor())
    const outcomes = await Promise.all(entries.map((entry) => add(entry)))
    deepEqual(new Set(outcomes), new Set(['added']))
    deepEqual(await list(), sorted(entries))
  }),

  rule('remove removes these entries and no others', async ({ index, owner, add, list }) => {
    const [first, second, third] = [entryFor(), entryFor(), entryFor()]
    for (const entry of [first, second, third]) await add(entry)
    await index.remove(owner, [first.authorizationId, third.authorizationId, anyId()])
    await index.remove(owner, [])
    deepEqual(await list(), [second])
  }),

  rule('mark refuses an entry whose owner was read before, and leaves the entries', async (scene) => {
    const { index, owner, add, list } = scene
    const before = entryFor()
    await add(before)
    await index.mark(owner, 60)
    equal(await add(entryFor(), 60, 30), 'marked')
    equal(await add(before, 60, 30), 'marked')
    deepEqual(await list(), [before])
  }),

  rule(
    'mark admits an entry whose owner was read after it',
    async ({ index, owner, add, list, pass: wait }) => {
      await index.mark(owner, 60)
      await wait(0.2)
      const after = entryFor()
      equal(await add(after, 60, 0.1), 'added')
      deepEqual(await list(), [after])
    },
  ),

  rule('mark counts for its seconds, and for this owner', async ({ index, owner, add, pass: wait }) => {
    await index.mark(owner, 0.1)
    equal(await index.add(anyOwner(), entryFor(), { seconds: 60, age: 30 }), 'added')
    await wait(0.2)
    equal(await add(entryFor(), 60, 30), 'added')
  }),

  rule('mark outlives every entry of the owner', async ({ index, owner, add, pass: wait }) => {
    await add(entryFor(), 0.1)
    await index.mark(owner, 60)
    await wait(0.2)
    equal(await add(entryFor(), 60, 30), 'marked')
  }),

  rule('an entry outlives a mark of the owner', async ({ index, owner, add, list, pass: wait }) => {
    const entry = entryFor()
    await add(entry, 60)
    await index.mark(owner, 0.1)
    await wait(0.2)
    deepEqual(await list(), [entry])
  }),

  rule('the last mark counts', async ({ index, owner, add, pass: wait }) => {
    await index.mark(owner, 60)
    await wait(2)
    equal(await add(entryFor(), 60, 1.5), 'added')
    await index.mark(owner, 60)
    equal(await add(entryFor(), 60, 1.5), 'marked')
  }),

  rule(`add refuses more than ${entriesAtMost} entries of one owner, and still renews one`, async (scene) => {
    const entries = Array.from({ length: entriesAtMost }, () => entryFor())
    for (let first = 0; first < entries.length; first += 100)
      await Promise.all(entries.slice(first, first + 100).map((entry) => scene.add(entry)))
    equal(await scene.add(entryFor()), 'full')
    const [known] = entries
    equal(known && (await scene.add(known)), 'added')
    equal((await scene.list()).length, entriesAtMost)
  }),

  ...[
    '__proto__',
    'constructor',
    'ü {tag} \u{1F511}',
    'https://app.example/client.json?a=b#c',
    'x'.repeat(256),
  ].map((clientId) =>
    rule(`a client named ${JSON.stringify(clientId.slice(0, 40))} comes back as it was`, async (scene) => {
      const entry = entryFor(clientId)
      equal(await scene.add(entry), 'added')
      deepEqual(await scene.list(), [entry])
    }),
  ),
]
