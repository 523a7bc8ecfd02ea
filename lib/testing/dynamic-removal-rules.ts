import { deepEqual, equal } from 'node:assert/strict'
import type { DynamicClient } from '../stores/dynamic-client-store'
import { add, client, described, lifetime, maximum, rule } from './dynamic-client-rule'
import { random22 } from './example-records'
import { same } from './contract-rule'

/** A public client. */
function app(client_id: string, bend: Partial<DynamicClient> = {}): DynamicClient {
  return {
    ...client(client_id),
    registrationTokenDigest: undefined,
    secretExpiries: [],
    ...bend,
  }
}

const laterApp = (firstClientId: string, generation: number) => app(random22(), { firstClientId, generation })

const disabled = (current: DynamicClient): DynamicClient => ({
  ...current,
  registration: { ...current.registration, disabled: true },
})

const addition = (added: DynamicClient, seconds = lifetime) => ({ client: added, lifetime: seconds, maximum })

export const disabledRules = [
  rule('add says that the client of the identifier is disabled, and leaves it so', async (clients) => {
    const id = random22()
    await add(clients, app(id), lifetime, maximum)
    await clients.update(id, disabled)
    same(await clients.add(addition(app(id))), { outcome: 'disabled' })
    same(await clients.find(id), disabled(app(id)))
  }),

  rule('update that leaves a client disabled lets it live as long as its tokens', async (clients, wait) => {
    const [id, other] = [random22(), random22()]
    await add(clients, app(id), 1, 2)
    await add(clients, app(other), 1, 2)
    await clients.update(id, disabled)
    await clients.update(other, described('new'))
    await wait(1)
    same(await clients.add(addition(app(id), 1)), { outcome: 'disabled' })
    equal(await clients.find(other), undefined)
    same(await clients.add({ ...addition(app(random22())), maximum: 1 }), { outcome: 'full' })
    await wait(1)
    equal(await clients.find(id), undefined)
  }),

  rule('update that leaves a client disabled never shortens its lifetime', async (clients, wait) => {
    const id = random22()
    await add(clients, app(id), 3, maximum)
    await clients.update(id, disabled)
    await wait(2)
    same(await clients.add(addition(app(id))), { outcome: 'disabled' })
  }),

  rule('a client that is disabled stays so, whatever else happens to it at once', async (clients) => {
    const ids = Array.from({ length: 20 }, random22)
    for (const id of ids) {
      await add(clients, app(id), lifetime, maximum)
      const acts = [
        () => clients.update(id, described('new')),
        () => clients.update(id, disabled),
        () => clients.extend(id, lifetime * 2, lifetime * 2),
        () => clients.add(addition(app(id), lifetime * 2)),
        () => clients.update(id, described('newer')),
      ]
      await Promise.all(acts.map((act) => act()))
      equal((await clients.find(id))?.registration.disabled, true)
    }
  }),
]

export const removalRules = [
  rule(
    'add of a removed client stores nothing, and names the generation that may register',
    async (clients) => {
      const id = random22()
      await add(clients, app(id), lifetime, maximum)
      await clients.remove(id)
      same(await clients.add(addition(app(id))), { outcome: 'removed', generation: 1 })
      equal(await clients.find(id), undefined)
      const later = laterApp(id, 1)
      same(await clients.add(addition(later)), { outcome: 'stored', client: later })
      same(await clients.find(later.registration.client_id), later)
      equal(await clients.find(id), undefined)
    },
  ),

  rule('remove counts the generations of one client', async (clients) => {
    const id = random22()
    await add(clients, app(id), lifetime, maximum)
    await clients.remove(id)
    for (const generation of [1, 2, 3]) {
      const later = laterApp(id, generation)
      await add(clients, later, lifetime, maximum)
      await clients.remove(later.registration.client_id)
      for (const earlier of [app(id), laterApp(id, generation)])
        same(await clients.add(addition(earlier)), { outcome: 'removed', generation: generation + 1 })
    }
    const other = app(random22())
    same(await clients.add(addition(other)), { outcome: 'stored', client: other })
  }),

  rule('remove of a client that is not there leaves no mark', async (clients, wait) => {
    const [unknown, ended] = [random22(), random22()]
    await add(clients, app(ended), 1, maximum)
    await wait(1)
    for (const id of [unknown, ended]) {
      await clients.remove(id)
      same(await clients.add(addition(app(id))), { outcome: 'stored', client: app(id) })
    }
  }),

  rule(
    'the mark of a public client lives as long as its tokens, and as the client would have lived',
    async (clients, wait) => {
      const [short, long] = [app(random22()), app(random22())]
      for (const [each, seconds] of [
        [short, 1],
        [long, 3],
      ] as const) {
        await add(clients, each, seconds, maximum)
        await clients.remove(each.registration.client_id)
      }
      const removed = { outcome: 'removed', generation: 1 }
      await wait(1)
      same(await clients.add(addition(short)), removed)
      await wait(1)
      same(await clients.add(addition(short)), { outcome: 'stored', client: short })
      same(await clients.add(addition(long)), removed)
      await wait(1)
      same(await clients.add(addition(long)), { outcome: 'stored', client: long })
    },
  ),

  rule(
    'the mark of a public client lives as long as the generation that came after it',
    async (clients, wait) => {
      const ways: readonly ((later: DynamicClient) => Promise<unknown>)[] = [
        ({ registration }) => clients.extend(registration.client_id, 3, 3),
        (later) => clients.add(addition(later, 3)),
        ({ registration }) => clients.update(registration.client_id, disabled),
      ]
      const pairs = ways.map((prolong) => {
        const first = app(random22(), { tokenLifetime: 1 })
        const firstClientId = first.registration.client_id
        return { prolong, first, later: app(random22(), { firstClientId, generation: 1, tokenLifetime: 3 }) }
      })
      for (const { prolong, first, later } of pairs) {
        await add(clients, first, 1, maximum)
        await clients.remove(first.registration.client_id)
        await add(clients, later, 1, maximum)
        await prolong(later)
      }
      await wait(2)
      for (const { first } of pairs)
        same(await clients.add(addition(first, 1)), { outcome: 'removed', generation: 1 })
      await wait(1)
      for (const { first } of pairs)
        same(await clients.add(addition(first, 1)), { outcome: 'stored', client: first })
    },
  ),

  // Its identifier is random, so the mark is for a late copy of its addition.
  rule('a confidential client that was removed does not come back either', async (clients) => {
    const id = random22()
    await add(clients, client(id), lifetime, maximum)
    await clients.remove(id)
    same(await clients.add(addition(client(id))), { outcome: 'removed', generation: 1 })
    equal(await clients.find(id), undefined)
  }),

  rule('the marks of removed clients take no room', async (clients) => {
    for (const id of [random22(), random22()]) {
      same(await clients.add({ ...addition(app(id)), maximum: 1 }), { outcome: 'stored', client: app(id) })
      await clients.remove(id)
    }
  }),

  rule('remove, and additions of the same client at once, leave no client', async (clients) => {
    for (const id of Array.from({ length: 20 }, random22)) {
      await add(clients, app(id), lifetime, maximum)
      const adding = () => clients.add(addition(app(id)))
      const results = await Promise.all([adding(), adding(), clients.remove(id), adding(), adding()])
      equal(await clients.find(id), undefined)
      const outcomes = results.flatMap((result) => (result === undefined ? [] : [result.outcome]))
      deepEqual(
        outcomes.filter((outcome) => outcome !== 'found' && outcome !== 'removed'),
        [],
      )
    }
  }),
]
