import { Pool } from 'pg'
import { postgresClients } from '../../../docs/examples/postgres-clients'
import { postgresStore, sweep } from '../../../docs/examples/postgres-store'
import { commit } from '../../../lib/authorization/commit'
import { secureRandom } from '../../../lib/protocol/credential'
import {
  activeRecord,
  approvedRecord,
  findRecord,
  inSeconds,
  saveRecord,
  threeVersions,
  version,
} from '../../../lib/testing/example-records'
import {
  authorizationIndexContract,
  authorizationStoreContract,
  clientRegistryContract,
  countersContract,
  consentStoreContract,
  keyStoreContract,
} from '../../../lib/testing/index'
import { oneMoreFailure } from '../../../lib/testing/race-rules'
import { advance, usePostgresTables } from '../../support/docs/postgres-tables'
import { startReplyLosingProxy } from '../../support/stores/reply-losing-proxy'
import { waitUntil } from '../../support/wait-until'

const tables = usePostgresTables()

async function waitingStatements(pool: Pool): Promise<number | null> {
  return (await pool.query(`select from pg_stat_activity where wait_event_type = 'Lock'`)).rowCount
}

const underTest = () => ({
  store: tables().store,
  counters: tables().store.counters,
  index: tables().store.index,
  keys: tables().store.keys,
  consents: tables().store.consents,
  advance: (seconds: number) => advance(tables(), seconds),
})

describe('the store on PostgreSQL', () => {
  authorizationStoreContract('keeps the contract', underTest)
  countersContract('counts as it must', underTest)
  authorizationIndexContract('lists authorizations as it must', underTest)
  consentStoreContract('remembers consents as it must', underTest)
  keyStoreContract('keeps signing keys as it must', underTest)
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

  it('refuses to create an authorization that was removed before, until the mark has expired', async () => {
    const { store } = tables()
    const [first, second] = threeVersions()
    await store.remove(first.authorization.id)
    await expect(saveRecord(store, first)).rejects.toThrow('The authorization was removed.')
    expect(await saveRecord(store, second, first)).toBe(false)
    expect(await findRecord(store, first)).toBeUndefined()
    await advance(tables(), 121)
    expect(await saveRecord(store, first)).toBe(true)
  })

  it('lets a mark refuse an entry that waited for it', async () => {
    const { store, pool } = tables()
    const terms = { seconds: 60, age: 5 }
    const entry = (authorizationId: string) => ({ authorizationId, clientId: 'photo-book' })
    await store.index.add('waits', entry('before'), terms)
    const lock = await pool.connect()
    await lock.query(`begin; select from oauth_owners where owner = 'waits' for update`)
    const marked = store.index.mark('waits', 60)
    await waitUntil('the mark waits', async () => (await waitingStatements(pool)) === 1)
    const added = store.index.add('waits', entry('after'), terms)
    await waitUntil('the entry waits', async () => (await waitingStatements(pool)) === 2)
    await lock.query('commit')
    lock.release()
    await marked
    expect(await added).toBe('marked')
    expect(await store.index.list('waits')).toEqual([entry('before')])
  })

  it('sweeps away what has expired, however much, and nothing else', async () => {
    const { store, pool } = tables()
    const entryOf = (authorizationId: string) => ({ authorizationId, clientId: 'photo-book' })
    await store.index.add('gone', entryOf('dead'), { seconds: -60, age: 0 })
    await store.index.add('kept', entryOf('dead'), { seconds: -60, age: 0 })
    await store.index.add('kept', entryOf('alive'), { seconds: 600, age: 0 })
    const lasting = version(activeRecord(inSeconds(600)))
    await saveRecord(store, lasting)
    const dead = Array.from({ length: 2001 }, () => version(activeRecord(inSeconds(-60))))
    await Promise.all(dead.map((one) => saveRecord(store, one)))
    await store.counters.useOnce('dead', 0)
    await store.counters.useOnce('alive', 600)
    await sweep(pool)
    for (const table of ['oauth_authorizations', 'oauth_counters', 'oauth_owners', 'oauth_owner_entries']) {
      const left = await pool.query(`select from ${table} where expires_at <= now()`)
      expect([table, left.rowCount]).toEqual([table, 0])
    }
    expect(await store.index.list('kept')).toEqual([entryOf('alive')])
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
