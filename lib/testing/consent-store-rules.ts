import { deepEqual, equal } from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { consentsAtMost, type ConsentStore, longestConsent } from '../authorization/consent-store'
import { type ContractRule, pass, type UnderTest } from './contract-rule'

export interface ConsentsUnderTest extends UnderTest {
  readonly consents: ConsentStore
}

type Scene = ReturnType<typeof sceneOf>

const anyOwner = () =>
  randomBytes(12).toString('base64url') + createHash('sha256').update(randomUUID()).digest('base64url')

function sceneOf(underTest: ConsentsUnderTest) {
  const { consents } = underTest
  const owner = anyOwner()
  return {
    consents,
    owner,
    find: (clientId = 'client') => consents.find(owner, clientId),
    remember: (text: string, clientId = 'client', seconds = 60, age = 0) =>
      consents.remember(owner, clientId, text, { seconds, age }),
    forget: (clientId?: string) => consents.forget(owner, clientId),
    pass: (seconds: number) => pass(underTest, seconds),
  }
}

const rule = (title: string, run: (scene: Scene) => Promise<void>): ContractRule<ConsentsUnderTest> => ({
  title,
  run: (underTest) => run(sceneOf(underTest)),
})

export const consentStoreRules: readonly ContractRule<ConsentsUnderTest>[] = [
  rule('find resolves to undefined if nothing is remembered', async ({ find }) => {
    equal(await find(), undefined)
  }),

  rule('find resolves to the consent of this owner and client, and of no other', async (scene) => {
    const { consents, find, remember } = scene
    equal(await remember('one', 'a'), true)
    equal(await remember('two', 'b'), true)
    equal(await find('a'), 'one')
    equal(await find('b'), 'two')
    equal(await find('c'), undefined)
    equal(await consents.find(anyOwner(), 'a'), undefined)
  }),

  rule('remember replaces the consent and its end', async ({ find, remember, pass: wait }) => {
    await remember('old', 'client', 0.1)
    await remember('new', 'client', 60)
    await wait(0.2)
    equal(await find(), 'new')
  }),

  rule('a consent is gone after its end, and others stay', async ({ find, remember, pass: wait }) => {
    await remember('long', 'long', 60)
    await remember('short', 'short', 0.1)
    await wait(0.2)
    equal(await find('short'), undefined)
    equal(await find('long'), 'long')
  }),

  rule('forget for a client forgets its consent and no other', async ({ find, remember, forget }) => {
    await remember('one', 'a')
    await remember('two', 'b')
    await forget('a')
    await forget('unknown')
    equal(await find('a'), undefined)
    equal(await find('b'), 'two')
  }),

  rule('forget without a client forgets every consent of this owner alone', async (scene) => {
    const { consents, find, remember, forget } = scene
    const other = anyOwner()
    await consents.remember(other, 'a', 'theirs', { seconds: 60, age: 0 })
    await remember('one', 'a')
    await remember('two', 'b')
    await forget()
    equal(await find('a'), undefined)
    equal(await find('b'), undefined)
    equal(await consents.find(other, 'a'), 'theirs')
  }),

  rule('list resolves to the consents of this owner whose end has not passed', async (scene) => {
    const { consents, owner, remember, forget, pass: wait } = scene
    const list = async () =>
      (await consents.list(owner)).toSorted((one, other) => (one.clientId < other.clientId ? -1 : 1))
    deepEqual(await list(), [])
    await consents.remember(anyOwner(), 'a', 'theirs', { seconds: 60, age: 0 })
    await remember('1:one', 'a')
    await remember('two', 'c b')
    await remember('short', '!', 0.1)
    await wait(0.2)
    const [one, two] = [
      { clientId: 'a', consent: '1:one' },
      { clientId: 'c b', consent: 'two' },
    ]
    deepEqual(await list(), [one, two])
    await forget('a')
    deepEqual(await list(), [two])
    await forget()
    deepEqual(await list(), [])
  }),

  rule('remember refuses a decision whose owner was read before forget', async (scene) => {
    const { find, remember, forget } = scene
    await forget('client')
    equal(await remember('late', 'client', 60, 30), false)
    equal(await find(), undefined)
    await forget()
    equal(await remember('late', 'other', 60, 30), false)
    equal(await find('other'), undefined)
  }),

  rule(
    'remember refuses a decision before forget for every client, also after one for another',
    async (scene) => {
      const { remember, forget, pass: wait } = scene
      await forget()
      await wait(0.2)
      await forget('other')
      equal(await remember('late', 'client', 60, 30), false)
    },
  ),

  rule('remember takes a decision whose owner was read after forget', async (scene) => {
    const { find, remember, forget, pass: wait } = scene
    await forget()
    await wait(0.2)
    equal(await remember('new', 'client', 60, 0.1), true)
    equal(await find(), 'new')
  }),

  rule(
    'forget leaves its mark also if nothing was remembered, and longer than any consent',
    async (scene) => {
      const { remember, forget, pass: wait } = scene
      await remember('short', 'client', 0.1)
      await forget()
      await wait(0.2)
      equal(await remember('late', 'client', 60, 30), false)
    },
  ),

  rule('forget for one owner refuses no decision of another', async ({ consents, forget }) => {
    await forget()
    equal(await consents.remember(anyOwner(), 'client', 'theirs', { seconds: 60, age: 30 }), true)
  }),

  rule(
    'remember refuses a decision whose owner was read more than an hour ago',
    async ({ find, remember }) => {
      equal(await remember('stale', 'client', 60, 3601), false)
      equal(await find(), undefined)
      equal(await remember('slow', 'client', 60, 3500), true)
    },
  ),

  rule('remember keeps every one of 50 clients that come at once', async ({ find, remember }) => {
    const clients = Array.from({ length: 50 }, (_, number) => `client ${number}`)
    await Promise.all(clients.map((clientId) => remember(`of ${clientId}`, clientId)))
    for (const clientId of clients) equal(await find(clientId), `of ${clientId}`)
  }),

  rule(`an owner with ${consentsAtMost} clients loses the consent that ends first`, async (scene) => {
    const { find, remember } = scene
    const clients = Array.from({ length: consentsAtMost }, (_, number) => `client ${number}`)
    for (const clientId of clients) await remember('kept', clientId, clientId === 'client 7' ? 60 : 600)
    equal(await remember('again', 'client 3', 600), true)
    equal(await find('client 7'), 'kept')
    equal(await remember('more', 'one more', 600), true)
    equal(await find('client 7'), undefined)
    equal(await find('client 3'), 'again')
    equal(await find('one more'), 'more')
    equal(await find('client 0'), 'kept')
  }),

  rule('a consent comes back letter by letter', async ({ find, remember }) => {
    for (const text of ['', ':', '12:34', 'ü \u{1F511} {tag}\n', 'x'.repeat(longestConsent)]) {
      equal(await remember(text), true)
      equal(await find(), text)
    }
  }),

  ...[
    '__proto__',
    'constructor',
    '!',
    'ü {tag} \u{1F511}',
    'https://app.example/a?b=c#d',
    'x'.repeat(256),
  ].map((clientId) =>
    rule(
      `a client named ${JSON.stringify(clientId.slice(0, 40))} is a client as any other`,
      async (scene) => {
        const { find, remember, forget } = scene
        equal(await find(clientId), undefined)
        equal(await remember('theirs', clientId), true)
        equal(await find(clientId), 'theirs')
        await forget(clientId)
        equal(await find(clientId), undefined)
      },
    ),
  ),
]
