import { deepEqual, equal, fail, rejects } from 'node:assert/strict'
import type { ClientRegistration } from '../protocol/client'
import { type ClientRegistry, type NotingRegistry, notesUses } from '../stores/client-store'
import { random22 } from './example-records'
import { atOnce, checkOf, type ContractRule, contractOf, rulesOf, same, type UnderTest } from './contract'

/** The registry under test, empty when a rule begins. */
export interface ClientsUnderTest extends UnderTest {
  readonly clients: ClientRegistry
}

export function registration(client_id: string, bend: Partial<ClientRegistration> = {}): ClientRegistration {
  const redirect_uris = ['https://client.example/callback']
  return { client_id, client_type: 'public', redirect_uris, scope: 'a', ...bend }
}

type Change = (current: ClientRegistration) => ClientRegistration

interface Registrations {
  add(registration: ClientRegistration): Promise<unknown>
  find(id: string): Promise<ClientRegistration | undefined>
  update(id: string, change: Change): Promise<ClientRegistration | undefined>
}

const described =
  (description: string): Change =>
  (current) => ({ ...current, description })

const oneMore: Change = (current) => described(`${current.description ?? ''}x`)(current)

/** Rules of a registry and of dynamic clients, each with a client that is there. */
export function commonRules<Subject>(open: (subject: Subject) => Registrations) {
  const rule = (
    title: string,
    run: (clients: Registrations, id: string) => Promise<void>,
  ): ContractRule<Subject> => ({
    title,
    async run(subject) {
      const [clients, id] = [open(subject), random22()]
      await clients.add(registration(id))
      await run(clients, id)
    },
  })
  return [
    rule('find finds what was added, under its exact identifier, and nothing else', async (clients, id) => {
      same(await clients.find(id), registration(id))
      for (const other of ['', id.slice(1), `${id} `, 'constructor', '__proto__', `${id}\u0000`])
        equal(await clients.find(other), undefined)
    }),

    rule('update resolves to undefined for an unknown client, and creates none', async (clients) => {
      const unknown = random22()
      const updated = clients.update(unknown, () => fail('update called the change for an unknown client.'))
      equal(await updated, undefined)
      equal(await clients.find(unknown), undefined)
    }),

    rule('update loses none of 50 parallel changes', async (clients, id) => {
      await atOnce(50, () => clients.update(id, oneMore))
      equal((await clients.find(id))?.description, 'x'.repeat(50))
    }),

    rule('update rejects with the error that a change throws, and writes nothing', async (clients, id) => {
      const refusal = new Error('no')
      const change = () => {
        throw refusal
      }
      await rejects(clients.update(id, change), (reason) => reason === refusal)
      same(await clients.find(id), registration(id))
    }),

    rule('update refuses a change of the identifier', async (clients, id) => {
      const other = random22()
      await rejects(clients.update(id, () => registration(other)))
      equal(await clients.find(other), undefined)
      same(await clients.find(id), registration(id))
    }),

    rule(
      'a change of an object that goes in or comes out does not change what is stored',
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
}

const deleted = (client_id: string): ClientRegistration => ({
  client_id,
  client_type: 'public',
  scope: '',
  disabled: true,
  deleted: true,
})

function shown(found: ClientRegistration | undefined, id: string): string | undefined {
  if (found === undefined) return found
  const { description, deleted: isDeleted } = found
  same(
    found,
    isDeleted === true ? deleted(id) : registration(id, description === undefined ? {} : { description }),
  )
  return isDeleted === true ? 'deleted' : (description ?? 'there')
}

function actsOf({ clients }: ClientsUnderTest) {
  const add = (id: string, description?: string) =>
    clients.add(registration(id, description === undefined ? {} : { description }))
  const change = async (name: string, to: Change) => shown(await clients.update(name, to), name)
  return {
    add,
    async addAtOnce(descriptions: string) {
      const added = await atOnce(50, (n) => add('a', descriptions === 'equal' ? undefined : `rival ${n}`))
      equal(added.filter(Boolean).length, 1)
      const winner = descriptions === 'equal' ? 'there' : `rival ${added.indexOf(true)}`
      equal(shown(await clients.find('a'), 'a'), winner)
    },
    find: async (name: string) => shown(await clients.find(name), name),
    describe: (name: string, description: string) => change(name, described(description)),
    keep: (name: string) => change(name, (current) => current),
    delete: (name: string) => change(name, () => deleted(name)),
    list: async () => (await clients.list()).map(({ client_id }) => client_id),
    describeAtOnce: () => Promise.all(['a', 'b', 'c', 'd'].map((id) => change(id, described(`of-${id}`)))),
  }
}

const day = 24 * 3600

/** A registry has both verbs, or none. */
const usesRule = (
  title: string,
  run: (clients: NotingRegistry) => Promise<void>,
): ContractRule<ClientsUnderTest> => ({
  title,
  async run({ clients }) {
    equal(typeof clients.noteUse, typeof clients.lastUses)
    if (notesUses(clients)) await run(clients)
  },
})

export const clientRegistryRules = [
  ...commonRules(({ clients }: ClientsUnderTest) => clients),

  ...rulesOf(actsOf, {
    'find distinguishes identifiers that differ only in letter case':
      'add a = true; find A = none; add A = true',
    'add refuses an identifier that exists and overwrites nothing, not even by an equal registration':
      'add a; add a other = false; add a = false; find a = there',
    'add lets one of 50 parallel additions succeed, and its registration is kept': 'addAtOnce different',
    'add lets one of 50 parallel additions succeed although all are equal': 'addAtOnce equal',
    'list returns every client, in the order of their identifiers':
      'list = none; add b; add a; add B; add ä; add c; list = B a b c ä',
    'update replaces a registration by the result of a change': 'add a; describe a new = new; find a = new',
    'update changes only the client with this identifier':
      'add a; add b; add c; add d; describeAtOnce; find a = of-a; find b = of-b; find c = of-c; find d = of-d',
    'update resolves to the current registration if the change returns it unchanged':
      'add a; keep a = there; find a = there',
    'update keeps that a client is deleted, and add then refuses its identifier':
      'add a Photos; delete a = deleted; add a = false; find a = deleted; list = a',
  }),

  ...['__proto__', 'constructor', 'toString', ' ', 'ä:*', 'x'.repeat(500)].flatMap((id) =>
    rulesOf(
      actsOf,
      {
        [`add takes any text as an identifier: ${JSON.stringify(id.slice(0, 20))}`]:
          'add * = true; find * = there; describe * new = new; list = *',
      },
      id,
    ),
  ),

  usesRule('lastUses has the latest day that noteUse got for each client, in any order', async (clients) => {
    const ids = ['one', 'two words', '__proto__', 'unused']
    for (const id of ids) await clients.add(registration(id))
    deepEqual([...(await clients.lastUses())], [])
    for (const days of [20_000, 20_002, 20_001]) await clients.noteUse('one', days * day)
    await clients.noteUse('two words', 20_003 * day)
    await clients.noteUse('__proto__', 20_004 * day)
    const days = await clients.lastUses()
    const latest = [20_002 * day, 20_003 * day, 20_004 * day, undefined]
    deepEqual([days.size, ...ids.map((id) => days.get(id))], [3, ...latest])
  }),

  usesRule('noteUse changes no registration, and outlives the deletion of its client', async (clients) => {
    const id = random22()
    await clients.add(registration(id))
    await atOnce(20, (number) => clients.noteUse(id, (20_000 + number) * day))
    same(await clients.find(id), registration(id))
    await clients.update(id, () => deleted(id))
    equal((await clients.lastUses()).get(id), 20_019 * day)
  }),
]

/** For a `ClientRegistry`, which is empty whenever a rule begins. */
export const clientRegistryContract = contractOf(clientRegistryRules)

export const checkClientRegistry = checkOf(clientRegistryRules)
