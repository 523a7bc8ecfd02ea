import { deepEqual, equal, fail, rejects } from 'node:assert/strict'
import type { ClientRegistration } from '../protocol/client'
import { type ClientRegistry, type NotingRegistry, notesUses } from '../stores/client-store'
import { random22 } from './example-records'
import { type ContractRule, same, type UnderTest } from './contract-rule'

/** The registry under test, empty when a rule begins. */
export interface ClientsUnderTest extends UnderTest {
  readonly clients: ClientRegistry
}

function clientsRule(
  title: string,
  run: (clients: ClientRegistry) => Promise<void>,
): ContractRule<ClientsUnderTest> {
  return { title, run: ({ clients }) => run(clients) }
}

export function registration(client_id: string, bend: Partial<ClientRegistration> = {}): ClientRegistration {
  const redirect_uris = ['https://client.example/callback']
  return { client_id, client_type: 'public', redirect_uris, scope: 'a', ...bend }
}

const described = (description: string) => (current: ClientRegistration) => ({
  ...current,
  description,
})

/** The length counts the changes. */
const oneMore = (current: ClientRegistration) => described(`${current.description ?? ''}x`)(current)

export const additionRules = [
  clientsRule('find finds what was added, under its exact identifier, and nothing else', async (clients) => {
    const id = random22()
    equal(await clients.add(registration(id)), true)
    same(await clients.find(id), registration(id))
    for (const other of ['', id.slice(1), `${id} `, 'constructor', '__proto__', `${id}\u0000`])
      equal(await clients.find(other), undefined)
  }),

  clientsRule('find distinguishes identifiers that differ only in letter case', async (clients) => {
    equal(await clients.add(registration('client a')), true)
    equal(await clients.find('client A'), undefined)
    equal(await clients.add(registration('client A')), true)
  }),

  ...['__proto__', 'constructor', 'toString', ' ', 'ä:*', 'x'.repeat(500)].map((id) =>
    clientsRule(
      `add takes any text as an identifier: ${JSON.stringify(id.slice(0, 20))}`,
      async (clients) => {
        equal(await clients.add(registration(id)), true)
        equal((await clients.find(id))?.client_id, id)
        equal((await clients.update(id, described('there')))?.description, 'there')
        deepEqual(
          (await clients.list()).map(({ client_id }) => client_id),
          [id],
        )
      },
    ),
  ),

  clientsRule(
    'add refuses an identifier that exists and overwrites nothing, not even by an equal registration',
    async (clients) => {
      const id = random22()
      await clients.add(registration(id))
      equal(await clients.add(registration(id, { scope: 'b' })), false)
      equal(await clients.add(registration(id)), false)
      same(await clients.find(id), registration(id))
    },
  ),

  clientsRule(
    'add lets one of 50 parallel additions succeed, and its registration is kept',
    async (clients) => {
      const id = random22()
      const rivals = Array.from({ length: 50 }, (_, n) => registration(id, { description: `rival ${n}` }))
      const successes = await Promise.all(rivals.map((rival) => clients.add(rival)))
      const winners = rivals.filter((_, n) => successes[n])
      equal(winners.length, 1)
      same(await clients.find(id), winners[0])
    },
  ),

  clientsRule('add lets one of 50 parallel additions succeed although all are equal', async (clients) => {
    const id = random22()
    const additions = Array.from({ length: 50 }, () => clients.add(registration(id)))
    equal((await Promise.all(additions)).filter(Boolean).length, 1)
  }),

  clientsRule('list returns every client, in the order of their identifiers', async (clients) => {
    deepEqual(await clients.list(), [])
    for (const id of ['b', 'a', 'B', 'ä', 'c']) await clients.add(registration(id))
    deepEqual(
      (await clients.list()).map(({ client_id }) => client_id),
      ['B', 'a', 'b', 'c', 'ä'],
    )
  }),
]

export const changeRules = [
  clientsRule('update replaces a registration by the result of a change', async (clients) => {
    const id = random22()
    await clients.add(registration(id))
    const changed = registration(id, { description: 'new' })
    same(await clients.update(id, described('new')), changed)
    same(await clients.find(id), changed)
  }),

  clientsRule('update resolves to undefined for an unknown client, and creates none', async (clients) => {
    const id = random22()
    equal(await clients.update(id, () => fail('update called the change for an unknown client.')), undefined)
    equal(await clients.find(id), undefined)
  }),

  clientsRule('update loses none of 50 parallel changes', async (clients) => {
    const id = random22()
    await clients.add(registration(id))
    await Promise.all(Array.from({ length: 50 }, () => clients.update(id, oneMore)))
    equal((await clients.find(id))?.description, 'x'.repeat(50))
  }),

  clientsRule('update changes only the client with this identifier', async (clients) => {
    const ids = Array.from({ length: 10 }, random22)
    await Promise.all(ids.map((id) => clients.add(registration(id))))
    await Promise.all(ids.map((id) => clients.update(id, described(id))))
    const found = await Promise.all(ids.map((id) => clients.find(id)))
    deepEqual(
      found.map((client) => client?.description),
      ids,
    )
  }),

  clientsRule(
    'update resolves to the current registration if the change returns it unchanged',
    async (clients) => {
      const id = random22()
      await clients.add(registration(id))
      same(await clients.update(id, (current) => current), registration(id))
      same(await clients.find(id), registration(id))
    },
  ),

  clientsRule('update rejects with the error that a change throws, and writes nothing', async (clients) => {
    const id = random22()
    await clients.add(registration(id))
    const refusal = new Error('no')
    const change = () => {
      throw refusal
    }
    await rejects(clients.update(id, change), (reason) => reason === refusal)
    same(await clients.find(id), registration(id))
  }),

  clientsRule(
    'update keeps that a client is deleted, and add then refuses its identifier',
    async (clients) => {
      const id = random22()
      await clients.add(registration(id, { client_name: 'Photos' }))
      const rest = { client_id: id, client_type: 'public', scope: '', disabled: true, deleted: true } as const
      same(await clients.update(id, () => rest), rest)
      equal(await clients.add(registration(id)), false)
      same(await clients.find(id), rest)
      same(await clients.list(), [rest])
    },
  ),

  clientsRule('update refuses a change of the identifier', async (clients) => {
    const [id, other] = [random22(), random22()]
    await clients.add(registration(id))
    await rejects(clients.update(id, () => registration(other)))
    same(await clients.list(), [registration(id)])
  }),

  clientsRule(
    'a change of an object that goes in or comes out does not change the stored registration',
    async (clients) => {
      const id = random22()
      const redirect_uris = ['https://client.example/callback']
      await clients.add(registration(id, { redirect_uris }))
      redirect_uris.push('https://thief.example/')
      const found = await clients.find(id)
      // False if the store returns frozen objects.
      Reflect.set(found ?? {}, 'scope', 'everything')
      Reflect.set(found?.redirect_uris ?? [], 0, 'https://thief.example/')
      same(await clients.find(id), registration(id))
    },
  ),
]

const day = 24 * 3600

/** A registry has both verbs, or none. */
const usesRule = (title: string, run: (clients: NotingRegistry) => Promise<void>) =>
  clientsRule(title, async (clients) => {
    equal(typeof clients.noteUse, typeof clients.lastUses)
    if (notesUses(clients)) await run(clients)
  })

export const useRules = [
  usesRule('lastUses has the latest day that noteUse got for each client, in any order', async (clients) => {
    const [one, other, unused] = ['one', 'two words', '__proto__']
    for (const id of [one, other, unused]) await clients.add(registration(id))
    deepEqual([...(await clients.lastUses())], [])
    for (const days of [20_000, 20_002, 20_001]) await clients.noteUse(one, days * day)
    await clients.noteUse(other, 20_003 * day)
    const days = await clients.lastUses()
    deepEqual(
      [one, other, unused].map((id) => days.get(id)),
      [20_002 * day, 20_003 * day, undefined],
    )
    equal(days.size, 2)
  }),

  usesRule('noteUse changes no registration, and outlives the deletion of its client', async (clients) => {
    const id = random22()
    await clients.add(registration(id))
    await Promise.all(Array.from({ length: 20 }, (_, n) => clients.noteUse(id, (20_000 + n) * day)))
    same(await clients.find(id), registration(id))
    const rest = { client_id: id, client_type: 'public', scope: '', disabled: true, deleted: true } as const
    await clients.update(id, () => rest)
    same(await clients.list(), [rest])
    equal((await clients.lastUses()).get(id), 20_019 * day)
  }),
]
