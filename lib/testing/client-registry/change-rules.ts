import { deepEqual, equal, fail, rejects } from 'node:assert/strict'
import { random22 } from '../authorization-store/examples'
import { same } from '../same'
import { clientsRule, described, oneMore, registration } from './clients-under-test'

/** What must be so of clients that are changed. */
export const changeRules = [
  clientsRule('update replaces a registration by what a change makes of it', async (clients) => {
    const id = random22()
    await clients.add(registration(id))
    const changed = registration(id, { description: 'new' })
    same(await clients.update(id, described('new')), changed)
    same(await clients.find(id), changed)
  }),

  clientsRule('update changes nothing of a client that is not there, and makes none', async (clients) => {
    const id = random22()
    equal(await clients.update(id, () => fail('There was nothing to change.')), undefined)
    equal(await clients.find(id), undefined)
  }),

  clientsRule('update loses none of 50 parallel changes', async (clients) => {
    const id = random22()
    await clients.add(registration(id))
    await Promise.all(Array.from({ length: 50 }, () => clients.update(id, oneMore)))
    equal((await clients.find(id))?.description, 'x'.repeat(50))
  }),

  clientsRule('update keeps changes of other clients apart', async (clients) => {
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
    'update resolves to the registration as it is when the change leaves it alone',
    async (clients) => {
      const id = random22()
      await clients.add(registration(id))
      same(await clients.update(id, (current) => current), registration(id))
      same(await clients.find(id), registration(id))
    },
  ),

  clientsRule('update lets through what a change throws, and writes nothing', async (clients) => {
    const id = random22()
    await clients.add(registration(id))
    const refusal = new Error('no')
    const change = () => {
      throw refusal
    }
    await rejects(clients.update(id, change), (reason) => reason === refusal)
    same(await clients.find(id), registration(id))
  }),

  clientsRule('update refuses a change of the identifier', async (clients) => {
    const [id, other] = [random22(), random22()]
    await clients.add(registration(id))
    await rejects(clients.update(id, () => registration(other)))
    same(await clients.list(), [registration(id)])
  }),

  clientsRule('nothing that goes in or comes out is a way to change what is kept', async (clients) => {
    const id = random22()
    const redirect_uris = ['https://client.example/callback']
    await clients.add(registration(id, { redirect_uris }))
    redirect_uris.push('https://thief.example/')
    const found = await clients.find(id)
    // False where the store gives out frozen objects.
    Reflect.set(found ?? {}, 'scope', 'everything')
    Reflect.set(found?.redirect_uris ?? [], 0, 'https://thief.example/')
    same(await clients.find(id), registration(id))
  }),
]
