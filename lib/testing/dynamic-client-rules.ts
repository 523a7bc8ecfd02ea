import { deepEqual, equal, ok } from 'node:assert/strict'
import type {
  DynamicClient,
  DynamicClientAddition,
  DynamicClientAdditionResult,
  DynamicClientStore,
} from '../stores/dynamic-client-store'
import type { ClientRegistration } from '../protocol/client'
import { commonRules, registration } from './client-registry-rules'
import { atOnce, checkOf, type ContractRule, contractOf, labelled, rulesOf, same } from './contract'
import { pass, type UnderTest } from './contract'
import { random22 } from './example-records'

/** The store under test, empty when a rule begins. */
export interface DynamicClientsUnderTest extends UnderTest {
  readonly clients: DynamicClientStore
}

const lifetime = 600
const maximum = 1000

function confidential(client_id: string, description = ''): DynamicClient {
  const client_secret_hashes = [`sha256:${'a'.repeat(43)}`]
  return {
    registration: registration(client_id, { client_secret_hashes, description }),
    issuedAt: 1,
    secretExpiries: [2],
    registrationTokenDigest: 'b'.repeat(43),
    issuerDigest: 'Zk3-_qVb09XxYyAa',
    tokenLifetime: 2,
  }
}

const changed =
  (bend: Partial<ClientRegistration>) =>
  (current: DynamicClient): DynamicClient => ({
    ...current,
    registration: { ...current.registration, ...bend },
  })

type Terms = Omit<DynamicClientAddition, 'client'>

/** `a1` is generation 1 of `a`, and `a1x` another. Each addition and change has another description. */
const actsOf =
  (isPublic: boolean) =>
  ({ clients }: DynamicClientsUnderTest) => {
    const idOf = labelled(random22)
    const stored = new Map<string, DynamicClient>()
    const tokenLifetimes = new Map<string, number>()
    let versions = 0
    const make = (label: string): DynamicClient => ({
      ...confidential(idOf(label), `${versions++}`),
      ...(isPublic ? { registrationTokenDigest: undefined, secretExpiries: [] } : {}),
      ...(/^.\d/.test(label) ? { firstClientId: idOf(label.slice(0, 1)), generation: Number(label[1]) } : {}),
      tokenLifetime: tokenLifetimes.get(label) ?? 2,
    })
    const add = async (label: string, terms: Terms) => {
      const client = make(label)
      const result = await clients.add({ client, ...terms })
      if (result.outcome === 'stored') stored.set(label, client)
      if ('client' in result) same(result.client, stored.get(label))
      return 'generation' in result ? `removed ${result.generation}` : result.outcome
    }
    const enter = (label: string, network: string, most: string, seconds = '600', grace = '2') =>
      add(label, {
        lifetime: Number(seconds),
        maximum: Number(most),
        network: network === 'unnamed' ? undefined : network,
        grace: grace === 'always' ? undefined : Number(grace),
      })
    const find = async (label: string) => {
      const found = await clients.find(idOf(label))
      if (found !== undefined) same(found, stored.get(label))
      return found && 'there'
    }
    const update = async (label: string, bend: Partial<ClientRegistration>) => {
      const next = await clients.update(idOf(label), changed(bend))
      same(next, changed(bend)(stored.get(label) ?? make(label)))
      if (next !== undefined) stored.set(label, next)
    }
    const extend = (label: string, seconds: string, left = seconds) =>
      clients.extend(idOf(label), Number(seconds), Number(left))
    return {
      live: (label: string, seconds: string) => void tokenLifetimes.set(label, Number(seconds)),
      add: (label: string, seconds = '600', most = '1000') =>
        add(label, { lifetime: Number(seconds), maximum: Number(most) }),
      enter,
      /** Clients get numbers as labels. */
      async fill(most: string, ...networks: string[]) {
        for (const network of networks)
          equal(await enter(`${idsByNumber(stored) + 1}`, network, most), 'stored')
      },
      find: async (...labels: string[]) => {
        const found = await Promise.all(labels.map(find))
        return found.map((one) => one ?? 'none')
      },
      describe: (label: string) => update(label, { description: `${versions++}` }),
      disable: (label: string) => update(label, { disabled: true }),
      extend,
      use: (...labels: string[]) => Promise.all(labels.map((label) => extend(label, `${lifetime + 1}`))),
      remove: (label: string) => clients.remove(idOf(label)),
      /** One of the clients before `but` gives way, and none after it. */
      async yield(...labels: string[]) {
        const others = labels.includes('but') ? labels.splice(labels.indexOf('but')).slice(1) : []
        equal(await enter('next', 'new', `${labels.length + others.length}`), 'stored')
        const [left, untouched] = [await Promise.all(labels.map(find)), await Promise.all(others.map(find))]
        equal(left.filter(Boolean).length, labels.length - 1)
        ok(untouched.every(Boolean))
      },
    }
  }

const idsByNumber = (stored: ReadonlyMap<string, unknown>): number =>
  [...stored.keys()].filter((label) => /^\d/.test(label)).length

type Run = (clients: DynamicClientStore, wait: (seconds: number) => Promise<void>) => Promise<void>

const rule = (title: string, run: Run): ContractRule<DynamicClientsUnderTest> => ({
  title,
  run: (underTest) => run(underTest.clients, (seconds) => pass(underTest, seconds)),
})

async function twentyTimes(
  clients: DynamicClientStore,
  run: (id: string, add: () => Promise<DynamicClientAdditionResult>) => Promise<void>,
): Promise<void> {
  for (let time = 0; time < 20; time++) {
    const client = { ...confidential(random22()), registrationTokenDigest: undefined, secretExpiries: [] }
    const add = () => clients.add({ client, lifetime: lifetime * 2, maximum })
    await clients.add({ client, lifetime, maximum })
    await run(client.registration.client_id, add)
  }
}

const livingOf = async (clients: DynamicClientStore, ids: readonly string[]) => {
  const found = await Promise.all(ids.map((id) => clients.find(id)))
  return ids.filter((_, at) => found[at] !== undefined)
}

const parallelRules = [
  rule('add keeps each member of a client as it is', async (clients) => {
    for (const client of [
      { ...confidential(random22()), registrationTokenDigest: undefined, secretExpiries: [] },
      confidential(random22()),
      { ...confidential(random22()), generation: 2, firstClientId: random22() },
    ]) {
      await clients.add({ client, lifetime, maximum })
      same(await clients.find(client.registration.client_id), client)
    }
  }),

  rule('add gives 50 parallel additions of one identifier the same client', async (clients) => {
    const id = random22()
    const added = await atOnce(50, (n) =>
      clients.add({ client: confidential(id, `${n}`), lifetime, maximum }),
    )
    const client = await clients.find(id)
    for (const result of added) same('client' in result && result.client, client)
  }),

  rule('add of 50 parallel additions admits as many as there is room for', async (clients) => {
    const ids = Array.from({ length: 50 }, random22)
    const add = (id: string) => clients.add({ client: confidential(id), lifetime, maximum: 10 })
    const added = await Promise.all(ids.map(add))
    const stored = ids.filter((_, at) => added[at]?.outcome === 'stored')
    equal(stored.length, 10)
    deepEqual(await livingOf(clients, ids), stored)
  }),

  rule('update and remove at once leave no client', (clients) =>
    twentyTimes(clients, async (id) => {
      await Promise.all([clients.update(id, changed({ description: 'new' })), clients.remove(id)])
      equal(await clients.find(id), undefined)
    }),
  ),

  rule('a client that is disabled stays so, whatever else happens to it at once', (clients) =>
    twentyTimes(clients, async (id, add) => {
      await Promise.all([
        clients.update(id, changed({ description: 'new' })),
        clients.update(id, changed({ disabled: true })),
        clients.extend(id, lifetime * 2, lifetime * 2),
        add(),
        clients.update(id, changed({ description: 'newer' })),
      ])
      equal((await clients.find(id))?.registration.disabled, true)
    }),
  ),

  rule('remove, and additions of the same client at once, leave no client', (clients) =>
    twentyTimes(clients, async (id, add) => {
      const results = await Promise.all([add(), add(), clients.remove(id), add(), add()])
      equal(await clients.find(id), undefined)
      const outcomes = results.flatMap((result) => (result === undefined ? [] : [result.outcome]))
      deepEqual(
        outcomes.filter((outcome) => outcome !== 'found' && outcome !== 'removed'),
        [],
      )
    }),
  ),

  rule('of 50 parallel additions at the maximum, each has one client give way', async (clients, wait) => {
    const add = (id: string, network: string) =>
      clients.add({ client: confidential(id), lifetime, maximum: 60, network, grace: 2 })
    const ids = Array.from({ length: 60 }, random22)
    const next = Array.from({ length: 50 }, random22)
    await Promise.all(ids.map((id) => add(id, 'many')))
    await wait(2)
    const outcomes = await Promise.all(next.map(async (id) => (await add(id, 'new')).outcome))
    deepEqual([...new Set(outcomes)], ['stored'])
    deepEqual(await livingOf(clients, next), next)
    equal((await livingOf(clients, ids)).length, 10)
  }),
]

const removedFirst = (label: string) =>
  `live ${label} 1; live ${label}1 3; add ${label} 1; remove ${label}; add ${label}1 1 = stored`

export const dynamicClientStoreRules = [
  ...commonRules(({ clients }: DynamicClientsUnderTest) => ({
    add: (added) =>
      clients.add({
        client: { ...confidential(added.client_id), registration: added },
        lifetime,
        maximum,
      }),
    find: async (id) => (await clients.find(id))?.registration,
    update: async (id, change) =>
      (await clients.update(id, (current) => ({ ...current, registration: change(current.registration) })))
        ?.registration,
  })),
  ...parallelRules,

  ...rulesOf(actsOf(false), {
    'add says whether the store holds this client, an earlier one, or none':
      'add a 600 1 = stored; add a 600 1 = found; add b 600 1 = full',
    'add resolves to the earlier client of an identifier, and overwrites nothing':
      'add a; add a = found; find a = there',
    'add finds a client that is there, although there is no room for more':
      'add a 600 1; add b 600 1 = full; add a 600 1 = found',
    'add takes the room of a client that has ended or was removed':
      'add a 1 2; add b 600 2; add c 600 2 = full; wait 2; add d 600 2 = stored; remove b; add e 600 2 = stored; add f 600 2 = full',
    'a client ends with its lifetime':
      'add a 2; wait 1; find a = there; wait 1; find a = none; add a = stored',
    'add of a client that is there extends its lifetime, and never shortens it':
      'add a 2; add a 4; add a 1; wait 3; find a = there; wait 1; find a = none',
    'extend extends a lifetime of which less is left, and no other':
      'add a 2; add b 4; extend a 6 3; extend b 6 3; wait 5; find a b = there none; wait 1; find a = none',
    'extend keeps the room of its client':
      'add a 1 1; extend a 600; wait 2; add b 600 1 = full; find a = there',
    'extend brings no client back, and takes no room':
      'add a 1; add b; remove b; wait 2; extend a 600; extend b 600; extend c 600; find a b c = none none none; add d 600 1 = stored',
    'remove removes a client, and no other': 'add a; add b; remove a; remove a; find a b = none there',
    'update replaces a client by the result of a change, and keeps its lifetime':
      'add a 2; describe a; wait 1; find a = there; wait 1; find a = none',
    // Its identifier is random, so the mark is for a late copy of its addition.
    'a confidential client that was removed does not come back either':
      'add a; remove a; add a = removed 1; find a = none',
  }),

  ...rulesOf(actsOf(true), {
    'add says that the client of the identifier is disabled, and leaves it so':
      'add a; disable a; add a = disabled; find a = there',
    'update that leaves a client disabled lets it live as long as its tokens':
      'add a 1 2; add b 1 2; disable a; describe b; wait 1; add a 1 = disabled; find b = none; add c 600 1 = full; wait 1; find a = none',
    'update that leaves a client disabled never shortens its lifetime':
      'add a 3; disable a; wait 2; add a = disabled',
    'add of a removed client stores nothing, and names the generation that may register':
      'add a; remove a; add a = removed 1; find a = none; add a1 = stored; find a1 a = there none',
    'remove counts the generations of one client':
      'add a; remove a; add a1; remove a1; add a = removed 2; add a1x = removed 2; add a2; remove a2; add a = removed 3; add a2x = removed 3; add a3; remove a3; add a = removed 4; add a3x = removed 4; add b = stored',
    'remove of a client that is not there leaves no mark':
      'add b 1; wait 1; remove a; add a = stored; remove b; add b = stored',
    'the mark of a public client lives as long as its tokens, and as the client would have lived':
      'add a 1; remove a; add b 3; remove b; wait 1; add a = removed 1; wait 1; add a = stored; add b = removed 1; wait 1; add b = stored',
    'the mark of a public client lives as long as the generation that came after it': `${removedFirst('a')}; extend a1 3; ${removedFirst('b')}; add b1 3 = found; ${removedFirst('c')}; disable c1; wait 2; add a 1 = removed 1; add b 1 = removed 1; add c 1 = removed 1; wait 1; add a 1 = stored; add b 1 = stored; add c 1 = stored`,
    'the marks of removed clients take no room':
      'add a 600 1 = stored; remove a; add b 600 1 = stored; remove b',
  }),

  ...rulesOf(actsOf(false), {
    'at the maximum, a client of the network with most unused ones gives way':
      'fill 6 many many many one two two; wait 2; yield 1 2 3 but 4 5 6',
    'of this network, the oldest client gives way first':
      'fill 2 many; wait 1; fill 2 many; wait 2; yield 1 but 2',
    'additions without a network count as one network': 'fill 3 unnamed unnamed one; wait 2; yield 1 2 but 3',
    'no client gives way within its grace, which begins again with each addition':
      'fill 2 many many; enter x new 2 = full; wait 2; enter 1 many 2 = found; yield 2 but 1',
    'a client without a grace gives way to no other':
      'enter a many 1 600 always; wait 2; enter x new 1 = full; find a = there',
    'extend holds a client for its lifetime: an open request keeps it':
      'fill 1 many; extend 1 4; wait 3; enter x new 1 = full; wait 1; yield 1',
    'extend never shortens the time for which a client is held':
      'fill 1 many; extend 1 4; extend 1 1; wait 3; enter x new 1 = full',
    'a client that extend has held to its end is in use, and gives way to no other':
      'fill 4 many many many one; use 1 2 3; wait 2; yield 4 but 1 2 3; enter x new 4 = full',
    'clients in use do not count for their network':
      'fill 6 used used used used many many; use 1 2 3; wait 2; yield 5 6 but 1 2 3 4',
    'a disabled client gives way to no other': 'fill 1 many; disable 1; wait 2; enter x new 1 = full',
    'a client in use that lives on only by registering again is unused again when its use would have ended':
      'fill 1 many; enter a many 2 2 1 = stored; extend a 5; enter a many 2 = found; use 1; wait 4; enter x new 2 = full; wait 1; yield a but 1',
    'a disabled client that registers again still gives way to no other':
      'live 1 3; fill 1 many; disable 1; enter 1 many 1 600 = disabled; enter 1 many 1 610 = disabled; wait 2; enter x new 1 = full',
    'a changed client may still give way': 'fill 1 many; describe 1; wait 2; yield 1',
    'clients that were removed or have ended do not count for their network':
      'fill 100 removed removed removed ended many many; remove 1; remove 2; enter a ended 100 2 1; enter b ended 100 2 1; enter c ended 100 2 1; wait 3; yield 5 6 but 3 4',
    'a network whose clients are all held sends no client, and the next network does':
      'fill 3 held held one; extend 1 60; extend 2 60; wait 2; yield 3 but 1 2',
    'more clients than the maximum, as after a change of it, give way to none':
      'fill 3 many many many; wait 2; enter x new 2 = full; find 1 2 3 = there there there',
    'a client that gave way may register again': 'fill 1 many; wait 2; yield 1; enter 1 many 2 = stored',
  }),
]

/** For a `DynamicClientStore`, which is empty whenever a rule begins. */
export const dynamicClientStoreContract = contractOf(dynamicClientStoreRules)

export const checkDynamicClientStore = checkOf(dynamicClientStoreRules)
