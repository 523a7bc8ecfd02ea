import { Pool } from 'pg'
import { postgresClients } from '../../docs/examples/postgres-clients'
import { postgresStore, sweep } from '../../docs/examples/postgres-store'
import { commit } from '../../lib/authorization/commit'
import { secureRandom } from '../../lib/protocol/credential'
import {
  activeRecord,
  approvedRecord,
  findRecord,
  inSeconds,
  saveRecord,
  threeVersions,
  version,
} from '../../lib/testing/example-records'
import { authorizationStoreContract, clientRegistryContract, countersContract } from '../../lib/testing/index'
import { oneMoreFailure } from '../../lib/testing/race-rules'
import { advance, usePostgresTables } from '../support/docs/postgres-tables'
import { startReplyLosingProxy } from '../support/stores/reply-losing-proxy'

const tables = usePostgresTables()

const underTest = () => ({
  store: tables().store,
  counters: tables().store.counters,
  advance: (seconds: number) => advance(tables(), seconds),
})

describe('the store on PostgreSQL', () => {
  authorizationStoreContract('keeps the contract', underTest)
  countersContract('counts as it must', underTest)
  clientRegistryContract('keeps clients as it must', async () => {
    await tables().pool.query('truncate oauth_clients')
    return { clients: postgresClients(tables().pool) }
  })

  it.each(['repeatable read', 'serializable'])(
    'lets at most one of 50 saves win where a host has made %s the default',
    async (isolation) => {
      const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`
      const strict = new Pool({ connectionString: tables().server.url, max: 20, options })
      try {
        expect((await strict.query('show transaction_isolation')).rows).toEqual([
          { transaction_isolation: isolation },
        ])
        const store = postgresStore(strict)
        const [first, second] = threeVersions()
        await saveRecord(store, first)
        const rivals = Array.from({ length: 50 }, () => version(second.authorization))
        const saves = await Promise.allSettled(rivals.map((rival) => saveRecord(store, rival, first)))
        const won = rivals.filter((_, n) => {
          const one = saves[n]
          return one?.status === 'fulfilled' && one.value
        })
        expect(won).toHaveLength(1)
        expect(await findRecord(store, first)).toEqual(won[0])
      } finally {
        await strict.end()
      }
    },
  )

  it('sweeps away what has expired, however much, and nothing else', async () => {
    const { store, pool } = tables()
    const lasting = version(activeRecord(inSeconds(600)))
    await saveRecord(store, lasting)
    const dead = Array.from({ length: 2001 }, () => version(activeRecord(inSeconds(-60))))
    await Promise.all(dead.map((one) => saveRecord(store, one)))
    await store.counters.useOnce('dead', 0)
    await store.counters.useOnce('alive', 600)
    await sweep(pool)
    const gone = `select (select count(*) from oauth_authorizations where expires_at <= now()) +
      (select count(*) from oauth_counters where expires_at <= now()) as left`
    expect((await pool.query(gone)).rows).toEqual([{ left: '0' }])
    expect(await findRecord(store, lasting)).toEqual(lasting)
    expect(await store.counters.useOnce('alive', 600)).toBe(false)
  })

  it('commits a change once whose reply was lost with its connection, and knows it', async () => {
    const proxy = await startReplyLosingProxy(tables().server.port)
    const connectionString = `postgres://postgres@${new URL(proxy.url).host}/postgres`
    const pool = new Pool({ connectionString, max: 1 })
    const store = postgresStore(pool)
    const counter = approvedRecord(inSeconds(600))
    await saveRecord(store, version(counter))
    const found = await store.find(counter.id)
    proxy.loseNextReply()
    const count = await commit(store, counter.id, oneMoreFailure, secureRandom, found)
    expect(proxy.lostReplies()).toBe(1)
    expect(count).toBe(counter.code.failures + 1)
    expect((await store.find(counter.id))?.authorization).toMatchObject({ code: { failures: count } })
    await pool.end()
    await proxy.stop()
  })
})
