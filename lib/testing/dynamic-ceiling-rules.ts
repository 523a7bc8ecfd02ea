import { deepEqual, equal } from 'node:assert/strict'
import type { DynamicClientStore } from '../stores/dynamic-client-store'
import { client, type DynamicClientsUnderTest, lifetime, rule } from './dynamic-client-rule'
import { random22 } from './example-records'
import type { ContractRule } from './contract-rule'

const grace = 2

async function outcomeOf(
  clients: DynamicClientStore,
  id: string,
  network: string | undefined,
  maximum: number,
): Promise<string> {
  return (await clients.add({ client: client(id), lifetime, maximum, network, grace })).outcome
}

async function filled(
  clients: DynamicClientStore,
  networks: readonly (string | undefined)[],
  maximum = networks.length,
): Promise<readonly string[]> {
  const ids: string[] = []
  for (const network of networks) {
    const id = random22()
    equal(await outcomeOf(clients, id, network, maximum), 'stored')
    ids.push(id)
  }
  return ids
}

async function livingOf(clients: DynamicClientStore, ids: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(ids.map((id) => clients.find(id)))
  return ids.filter((_, at) => found[at] !== undefined)
}

/** Exactly one of these clients gives way to the next. */
async function requireOneGivesWay(
  clients: DynamicClientStore,
  these: readonly string[],
  others: readonly string[],
): Promise<void> {
  const maximum = these.length + others.length
  equal(await outcomeOf(clients, random22(), 'new', maximum), 'stored')
  equal((await livingOf(clients, these)).length, these.length - 1)
  deepEqual(await livingOf(clients, others), others)
}

const splitAt = (at: number, ids: readonly string[]) => [ids.slice(0, at), ids.slice(at)] as const

export const ceilingRules: readonly ContractRule<DynamicClientsUnderTest>[] = [
  rule('at the maximum, a client of the network with most unused ones gives way', async (clients, wait) => {
    const [many, others] = splitAt(3, await filled(clients, ['many', 'many', 'many', 'one', 'two', 'two']))
    await wait(grace)
    await requireOneGivesWay(clients, many, others)
  }),

  rule('of this network, the oldest client gives way first', async (clients, wait) => {
    const [oldest = ''] = await filled(clients, ['many'], 2)
    await wait(1)
    const [second = ''] = await filled(clients, ['many'], 2)
    await wait(grace)
    await requireOneGivesWay(clients, [oldest], [second])
  }),

  rule('additions without a network count as one network', async (clients, wait) => {
    const [unnamed, others] = splitAt(2, await filled(clients, [undefined, undefined, 'one']))
    await wait(grace)
    await requireOneGivesWay(clients, unnamed, others)
  }),

  rule(
    'no client gives way within its grace, which begins again with each addition',
    async (clients, wait) => {
      const [first = '', second = ''] = await filled(clients, ['many', 'many'])
      equal(await outcomeOf(clients, random22(), 'new', 2), 'full')
      await wait(grace)
      equal(await outcomeOf(clients, first, 'many', 2), 'found')
      await requireOneGivesWay(clients, [second], [first])
    },
  ),

  rule('a client without a grace gives way to no other', async (clients, wait) => {
    const id = random22()
    await clients.add({ client: client(id), lifetime, maximum: 1, network: 'many' })
    await wait(grace)
    equal(await outcomeOf(clients, random22(), 'new', 1), 'full')
    deepEqual(await livingOf(clients, [id]), [id])
  }),

  rule('extend holds a client for its lifetime: an open request keeps it', async (clients, wait) => {
    const [id = ''] = await filled(clients, ['many'])
    await clients.extend(id, 4, 4)
    await wait(3)
    equal(await outcomeOf(clients, random22(), 'new', 1), 'full')
    await wait(1)
    await requireOneGivesWay(clients, [id], [])
  }),

  rule('extend never shortens the time for which a client is held', async (clients, wait) => {
    const [id = ''] = await filled(clients, ['many'])
    await clients.extend(id, 4, 4)
    await clients.extend(id, 1, 1)
    await wait(3)
    equal(await outcomeOf(clients, random22(), 'new', 1), 'full')
  }),

  rule(
    'a client that extend has held to its end is in use, and gives way to no other',
    async (clients, wait) => {
      const [used, unused] = splitAt(3, await filled(clients, ['many', 'many', 'many', 'one']))
      for (const id of used) await clients.extend(id, lifetime + 1, lifetime + 1)
      await wait(grace)
      await requireOneGivesWay(clients, unused, used)
      equal(await outcomeOf(clients, random22(), 'new', 4), 'full')
    },
  ),

  rule('clients in use do not count for their network', async (clients, wait) => {
    const [used, [unused = '', ...many]] = splitAt(
      3,
      await filled(clients, ['used', 'used', 'used', 'used', 'many', 'many']),
    )
    for (const id of used) await clients.extend(id, lifetime + 1, lifetime + 1)
    await wait(grace)
    await requireOneGivesWay(clients, many, [...used, unused])
  }),

  rule('a disabled client gives way to no other', async (clients, wait) => {
    const [id = ''] = await filled(clients, ['many'])
    await clients.update(id, (current) => ({
      ...current,
      registration: { ...current.registration, disabled: true },
    }))
    await wait(grace)
    equal(await outcomeOf(clients, random22(), 'new', 1), 'full')
  }),

  rule(
    'a client in use that lives on only by registering again is unused again when its use would have ended',
    async (clients, wait) => {
      const [id = ''] = await filled(clients, ['many'])
      const short = { client: client(random22()), lifetime: 2, maximum: 2, network: 'many', grace: 1 }
      equal((await clients.add(short)).outcome, 'stored')
      const { client_id } = short.client.registration
      await clients.extend(client_id, 5, 5)
      equal(await outcomeOf(clients, client_id, 'many', 2), 'found')
      await clients.extend(id, lifetime + 1, lifetime + 1)
      await wait(4)
      equal(await outcomeOf(clients, random22(), 'new', 2), 'full')
      await wait(1)
      await requireOneGivesWay(clients, [client_id], [id])
    },
  ),

  rule('a disabled client that registers again still gives way to no other', async (clients, wait) => {
    const [id = ''] = await filled(clients, ['many'])
    await clients.update(id, (current) => ({
      ...current,
      tokenLifetime: 3,
      registration: { ...current.registration, disabled: true },
    }))
    for (const seconds of [lifetime, lifetime + 10])
      equal(
        (await clients.add({ client: client(id), lifetime: seconds, maximum: 1, network: 'many', grace }))
          .outcome,
        'disabled',
      )
    await wait(grace)
    equal(await outcomeOf(clients, random22(), 'new', 1), 'full')
  }),

  rule('a changed client may still give way', async (clients, wait) => {
    const ids = await filled(clients, ['many'])
    await clients.update(ids[0] ?? '', (current) => ({ ...current, issuedAt: 7 }))
    await wait(grace)
    await requireOneGivesWay(clients, ids, [])
  }),

  rule('clients that were removed or have ended do not count for their network', async (clients, wait) => {
    const networks = ['removed', 'removed', 'removed', 'ended', 'many', 'many']
    const [removed, [left = '', ended = '', ...many]] = splitAt(2, await filled(clients, networks, 100))
    for (const id of removed) await clients.remove(id)
    for (const id of Array.from({ length: 3 }, random22))
      await clients.add({ client: client(id), lifetime: grace, maximum: 100, network: 'ended', grace: 1 })
    await wait(grace + 1)
    await requireOneGivesWay(clients, many, [left, ended])
  }),

  rule(
    'a network whose clients are all held sends no client, and the next network does',
    async (clients, wait) => {
      const [held, others] = splitAt(2, await filled(clients, ['held', 'held', 'one']))
      for (const id of held) await clients.extend(id, 60, 60)
      await wait(grace)
      await requireOneGivesWay(clients, others, held)
    },
  ),

  rule('more clients than the maximum, as after a change of it, give way to none', async (clients, wait) => {
    const ids = await filled(clients, ['many', 'many', 'many'])
    await wait(grace)
    equal(await outcomeOf(clients, random22(), 'new', 2), 'full')
    deepEqual(await livingOf(clients, ids), ids)
  }),

  rule('of 50 parallel additions at the maximum, each has one client give way', async (clients, wait) => {
    const ids = await filled(
      clients,
      Array.from({ length: 60 }, () => 'many'),
    )
    await wait(grace)
    const added = Array.from({ length: 50 }, random22)
    const outcomes = await Promise.all(added.map((id) => outcomeOf(clients, id, 'new', 60)))
    deepEqual([...new Set(outcomes)], ['stored'])
    deepEqual(await livingOf(clients, added), added)
    equal((await livingOf(clients, ids)).length, 10)
  }),

  rule('a client that gave way may register again', async (clients, wait) => {
    const ids = await filled(clients, ['many'])
    await wait(grace)
    await requireOneGivesWay(clients, ids, [])
    equal(await outcomeOf(clients, ids[0] ?? '', 'many', 2), 'stored')
  }),
]
