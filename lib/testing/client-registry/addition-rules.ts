import { deepEqual, equal } from 'node:assert/strict'
import { random22 } from '../authorization-store/examples'
import { same } from '../same'
import { clientsRule, described, registration } from './clients-under-test'

/** What must be so of clients that are added. */
export const additionRules = [
  clientsRule('find finds what was added, under its exact identifier, and nothing else', async (clients) => {
    const id = random22()
    equal(await clients.add(registration(id)), true)
    same(await clients.find(id), registration(id))
    for (const other of ['', id.slice(1), `${id} `, 'constructor', '__proto__', `${id}\u0000`])
      equal(await clients.find(other), undefined)
  }),

  clientsRule(
    'find keeps identifiers apart that differ only in the case of their letters',
    async (clients) => {
      equal(await clients.add(registration('client a')), true)
      equal(await clients.find('client A'), undefined)
      equal(await clients.add(registration('client A')), true)
    },
  ),

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

  clientsRule('list tells every client, in the order of their identifiers', async (clients) => {
    deepEqual(await clients.list(), [])
    for (const id of ['b', 'a', 'B', 'ä', 'c']) await clients.add(registration(id))
    deepEqual(
      (await clients.list()).map(({ client_id }) => client_id),
      ['B', 'a', 'b', 'c', 'ä'],
    )
  }),
]
