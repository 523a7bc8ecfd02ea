import { deepEqual, equal, fail, rejects } from 'node:assert/strict'
import { add, client, described, lifetime, maximum, oneMore, rule } from './dynamic-client-rule'
import { type DynamicClientsUnderTest } from './dynamic-client-rule'
import { ceilingRules } from './dynamic-ceiling-rules'
import { disabledRules, removalRules } from './dynamic-removal-rules'
import { random22 } from './example-records'
import { type ContractRule, same } from './contract-rule'

export type { DynamicClientsUnderTest } from './dynamic-client-rule'

const additionRules = [
  rule('find finds what was added, under its exact identifier, and nothing else', async (clients) => {
    const id = random22()
    same(await add(clients, client(id), lifetime, maximum), client(id))
    same(await clients.find(id), client(id))
    for (const other of ['', id.slice(1), `${id} `, id.toLowerCase() + id, 'constructor', '__proto__'])
      equal(await clients.find(other), undefined)
  }),

  rule('add keeps each member of a client as it is', async (clients) => {
    for (const app of [
      { ...client(random22()), registrationTokenDigest: undefined, secretExpiries: [] },
      client(random22()),
      { ...client(random22()), generation: 2, firstClientId: random22() },
    ]) {
      await add(clients, app, lifetime, maximum)
      same(await clients.find(app.registration.client_id), app)
    }
  }),

  rule('add says whether the store holds this client, an earlier one, or none', async (clients) => {
    const id = random22()
    const addition = { client: client(id), lifetime, maximum: 1 }
    same(await clients.add(addition), { outcome: 'stored', client: client(id) })
    same(await clients.add({ ...addition, client: client(id, 'second') }), {
      outcome: 'found',
      client: client(id),
    })
    same(await clients.add({ ...addition, client: client(random22()) }), { outcome: 'full' })
  }),

  rule('add resolves to the earlier client of an identifier, and overwrites nothing', async (clients) => {
    const id = random22()
    await add(clients, client(id, 'first'), lifetime, maximum)
    same(await add(clients, client(id, 'second'), lifetime, maximum), client(id, 'first'))
    same(await clients.find(id), client(id, 'first'))
  }),

  rule('add gives 50 parallel additions of one identifier the same client', async (clients) => {
    const id = random22()
    const rivals = Array.from({ length: 50 }, (_, n) => add(clients, client(id, `${n}`), lifetime, maximum))
    const added = await Promise.all(rivals)
    for (const each of added) same(each, await clients.find(id))
  }),

  rule('add of 50 parallel additions admits as many as there is room for', async (clients) => {
    const ids = Array.from({ length: 50 }, random22)
    const added = await Promise.all(ids.map((id) => add(clients, client(id), lifetime, 10)))
    equal(added.filter((each) => each !== undefined).length, 10)
    const found = await Promise.all(ids.map((id) => clients.find(id)))
    deepEqual(
      found.map((each) => each !== undefined),
      added.map((each) => each !== undefined),
    )
  }),

  rule('add finds a client that is there, although there is no room for more', async (clients) => {
    const id = random22()
    await add(clients, client(id), lifetime, 1)
    equal(await add(clients, client(random22()), lifetime, 1), undefined)
    same(await add(clients, client(id), lifetime, 1), client(id))
  }),

  rule('add takes the room of a client that has ended or was removed', async (clients, wait) => {
    const [ended, removed] = [random22(), random22()]
    await add(clients, client(ended), 1, 2)
    await add(clients, client(removed), lifetime, 2)
    equal(await add(clients, client(random22()), lifetime, 2), undefined)
    await wait(2)
    same(await add(clients, client('a'), lifetime, 2), client('a'))
    await clients.remove(removed)
    same(await add(clients, client('b'), lifetime, 2), client('b'))
    equal(await add(clients, client('c'), lifetime, 2), undefined)
  }),

  rule(
    'a change of an object that goes in or comes out does not change the stored client',
    async (clients) => {
      const id = random22()
      const redirect_uris = ['https://client.example/callback']
      const added = { ...client(id), registration: { ...client(id).registration, redirect_uris } }
      await add(clients, added, lifetime, maximum)
      redirect_uris.push('https://thief.example/')
      const found = await clients.find(id)
      Reflect.set(found ?? {}, 'registrationTokenDigest', 'c'.repeat(43))
      Reflect.set(found?.registration ?? {}, 'scope', 'everything')
      same(await clients.find(id), client(id))
    },
  ),
]

const lifetimeRules = [
  rule('a client ends with its lifetime', async (clients, wait) => {
    const id = random22()
    await add(clients, client(id), 2, maximum)
    await wait(1)
    same(await clients.find(id), client(id))
    await wait(1)
    equal(await clients.find(id), undefined)
    same(await add(clients, client(id, 'again'), lifetime, maximum), client(id, 'again'))
  }),

  rule('add of a client that is there extends its lifetime, and never shortens it', async (clients, wait) => {
    const id = random22()
    await add(clients, client(id), 2, maximum)
    await add(clients, client(id), 4, maximum)
    await add(clients, client(id), 1, maximum)
    await wait(3)
    same(await clients.find(id), client(id))
    await wait(1)
    equal(await clients.find(id), undefined)
  }),

  rule('extend extends a lifetime of which less is left, and no other', async (clients, wait) => {
    const [short, long] = [random22(), random22()]
    await add(clients, client(short), 2, maximum)
    await add(clients, client(long), 4, maximum)
    await clients.extend(short, 6, 3)
    await clients.extend(long, 6, 3)
    await wait(5)
    same(await clients.find(short), client(short))
    equal(await clients.find(long), undefined)
    await wait(1)
    equal(await clients.find(short), undefined)
  }),

  rule('extend keeps the room of its client', async (clients, wait) => {
    const id = random22()
    await add(clients, client(id), 1, 1)
    await clients.extend(id, lifetime, lifetime)
    await wait(2)
    equal(await add(clients, client(random22()), lifetime, 1), undefined)
    same(await clients.find(id), client(id))
  }),

  rule('extend brings no client back, and takes no room', async (clients, wait) => {
    const [ended, removed] = [random22(), random22()]
    await add(clients, client(ended), 1, maximum)
    await add(clients, client(removed), lifetime, maximum)
    await clients.remove(removed)
    await wait(2)
    for (const id of [ended, removed, random22()]) {
      await clients.extend(id, lifetime, lifetime)
      equal(await clients.find(id), undefined)
    }
    same(await add(clients, client('a'), lifetime, 1), client('a'))
  }),

  rule('remove removes a client, and no other', async (clients) => {
    const [id, other] = [random22(), random22()]
    await add(clients, client(id), lifetime, maximum)
    await add(clients, client(other), lifetime, maximum)
    await clients.remove(id)
    await clients.remove(id)
    equal(await clients.find(id), undefined)
    same(await clients.find(other), client(other))
  }),
]

const changeRules = [
  rule(
    'update replaces a client by the result of a change, and keeps its lifetime',
    async (clients, wait) => {
      const id = random22()
      await add(clients, client(id), 2, maximum)
      same(await clients.update(id, described('new')), client(id, 'new'))
      await wait(1)
      same(await clients.find(id), client(id, 'new'))
      await wait(1)
      equal(await clients.find(id), undefined)
    },
  ),

  rule('update resolves to undefined for an unknown client, and creates none', async (clients) => {
    const id = random22()
    equal(await clients.update(id, () => fail('update called the change for an unknown client.')), undefined)
    equal(await clients.find(id), undefined)
  }),

  rule('update loses none of 50 parallel changes', async (clients) => {
    const id = random22()
    await add(clients, client(id), lifetime, maximum)
    await Promise.all(Array.from({ length: 50 }, () => clients.update(id, oneMore)))
    equal((await clients.find(id))?.registration.description, 'x'.repeat(50))
  }),

  rule('update rejects with the error that a change throws, and writes nothing', async (clients) => {
    const id = random22()
    await add(clients, client(id), lifetime, maximum)
    const refusal = new Error('no')
    const change = () => {
      throw refusal
    }
    await rejects(clients.update(id, change), (reason) => reason === refusal)
    same(await clients.find(id), client(id))
  }),

  rule('update refuses a change of the identifier', async (clients) => {
    const [id, other] = [random22(), random22()]
    await add(clients, client(id), lifetime, maximum)
    await rejects(clients.update(id, () => client(other)))
    equal(await clients.find(other), undefined)
    same(await clients.find(id), client(id))
  }),

  rule('update and remove at once leave no client', async (clients) => {
    const ids = Array.from({ length: 20 }, random22)
    for (const id of ids) {
      await add(clients, client(id), lifetime, maximum)
      await Promise.all([clients.update(id, described('new')), clients.remove(id)])
      equal(await clients.find(id), undefined)
    }
  }),
]

export const dynamicClientStoreRules: readonly ContractRule<DynamicClientsUnderTest>[] = [
  ...additionRules,
  ...lifetimeRules,
  ...changeRules,
  ...disabledRules,
  ...removalRules,
  ...ceilingRules,
]
