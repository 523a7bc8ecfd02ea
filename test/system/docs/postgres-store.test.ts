import { Pool } from 'pg'
import { clientsSchema, postgresClients } from '../../../docs/examples/postgres-clients'
import { postgresStore, schema, sweep } from '../../../docs/examples/postgres-store'
import { commit } from '../../../lib/authorization/commit'
import { secureRandom } from '../../../lib/protocol/credential'
import {
  activeRecord,
  approvedRecord,
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
import { oneMoreFailure } from '../../../lib/testing/record-rules'
import { type PostgresServer, startPostgres } from './postgres-server'
import { startReplyLosingProxy } from '../../support/stores/reply-losing-proxy'
import type { AuthorizationServerOptions } from '../../../lib/index'
import { application } from '../../support/flows/application'
import { everyClient, nightlyReport, photoBook, photoPrint } from '../../support/flows/clients'
import { refusalOf, tokensOf } from '../../support/flows/tokens'
import { waitUntil } from '../../support/wait-until'

let server: PostgresServer
let pool: Pool
let store: ReturnType<typeof postgresStore>
beforeAll(async () => {
  server = await startPostgres()
  pool = new Pool({ connectionString: server.url, max: 20 })
  await pool.query(schema + clientsSchema)
  store = postgresStore(pool)
})
afterAll(async () => {
  await pool.end()
  await server.stop()
})

const times: readonly (readonly [table: string, columns: readonly string[]])[] = [
  ['oauth_authorizations', ['expires_at']],
  ['oauth_counters', ['expires_at']],
  ['oauth_owners', ['marked_at', 'mark_ends_at', 'expires_at']],
  ['oauth_owner_entries', ['expires_at']],
  ['oauth_revoked_clients', ['expires_at']],
  ['oauth_consent_owners', ['forgotten_at', 'expires_at']],
  ['oauth_consents', ['expires_at']],
]

/** Lets time pass as the database sees it: everything was, and ends, so much sooner. */
async function advance(seconds: number): Promise<void> {
  for (const [table, columns] of times) {
    const earlier = columns.map((column) => `${column} = ${column} - $1::float8 * interval '1 second'`)
    await pool.query(`update ${table} set ${earlier.join(', ')}`, [seconds])
  }
}

const waitingStatements = async () =>
  (await pool.query(`select from pg_stat_activity where wait_event_type = 'Lock'`)).rowCount

const underTest = () => ({ ...store, store, advance })

describe('the store on PostgreSQL', () => {
  authorizationStoreContract('keeps the contract', underTest)
  countersContract('counts as it must', underTest)
  authorizationIndexContract('lists authorizations as it must', underTest)
  consentStoreContract('remembers consents as it must', underTest)
  keyStoreContract('keeps signing keys as it must', underTest)
  clientRegistryContract('keeps clients as it must', async () => {
    await pool.query('truncate oauth_clients')
    return { clients: postgresClients(pool) }
  })

  it.each(['repeatable read', 'serializable'])(
    'lets at most one of 50 saves win where a host has made %s the default',
    async (isolation) => {
      const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`
      const strict = new Pool({ connectionString: server.url, max: 20, options })
      try {
        expect((await strict.query('show transaction_isolation')).rows).toEqual([
          { transaction_isolation: isolation },
        ])
        const strictStore = postgresStore(strict)
        const [first, second] = threeVersions()
        await saveRecord(strictStore, first)
        const rivals = Array.from({ length: 50 }, () => version(second.authorization))
        const saves = await Promise.allSettled(rivals.map((rival) => saveRecord(strictStore, rival, first)))
        const won = rivals.filter((_, n) => {
          const one = saves[n]
          return one?.status === 'fulfilled' && one.value
        })
        expect(won).toHaveLength(1)
        expect(await strictStore.find(first.authorization.id)).toEqual(won[0])
      } finally {
        await strict.end()
      }
    },
  )

  it('refuses to create an authorization that was removed before, until the mark has expired', async () => {
    const [first, second] = threeVersions()
    await store.remove(first.authorization.id)
    await expect(saveRecord(store, first)).rejects.toThrow('The authorization was removed.')
    expect(await saveRecord(store, second, first)).toBe(false)
    expect(await store.find(first.authorization.id)).toBeUndefined()
    await advance(121)
    expect(await saveRecord(store, first)).toBe(true)
  })

  it('lets a mark refuse an entry that waited for it', async () => {
    const terms = { seconds: 60, age: 5 }
    const entry = (authorizationId: string) => ({ authorizationId, clientId: 'photo-book' })
    await store.index.add('waits', entry('before'), terms)
    const lock = await pool.connect()
    await lock.query(`begin; select from oauth_owners where owner = 'waits' for update`)
    const marked = store.index.mark('waits', 60)
    await waitUntil('the mark waits', async () => (await waitingStatements()) === 1)
    const added = store.index.add('waits', entry('after'), terms)
    await waitUntil('the entry waits', async () => (await waitingStatements()) === 2)
    await lock.query('commit')
    lock.release()
    await marked
    expect(await added).toBe('marked')
    expect(await store.index.list('waits')).toEqual([entry('before')])
  })

  it('sweeps away what has expired, however much, and nothing else', async () => {
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
    expect(await store.find(lasting.authorization.id)).toEqual(lasting)
    expect(await store.counters.useOnce('alive', 600)).toBe(false)
  })

  it('commits a change once whose reply was lost with its connection, and knows it', async () => {
    const proxy = await startReplyLosingProxy(server.port)
    const connectionString = `postgres://postgres@${new URL(proxy.url).host}/postgres`
    const broken = new Pool({ connectionString, max: 1 })
    const over = postgresStore(broken)
    const counter = approvedRecord(inSeconds(600))
    await saveRecord(over, version(counter))
    const found = await over.find(counter.id)
    proxy.loseNextReply()
    const count = await commit(over, counter.id, oneMoreFailure, secureRandom, { cached: found })
    expect(proxy.lostReplies()).toBe(1)
    expect(count).toBe(counter.code.failures + 1)
    expect((await over.find(counter.id))?.authorization).toMatchObject({ code: { failures: count } })
    await broken.end()
    await proxy.stop()
  })
})

describe('a server on PostgreSQL', () => {
  // A machine under load is not a store in trouble.
  const stage = (options: Partial<AuthorizationServerOptions> = {}) =>
    application({ store, storeDeadline: 10, ...options })
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

  test('gives a client a token for itself, and finds clients in PostgreSQL, too', async () => {
    const clients = postgresClients(pool)
    for (const { registration } of everyClient) await clients.add(registration)
    const { flow } = stage({ clients })
    const { accessToken } = tokensOf(await flow.request(nightlyReport, grant))
    expect((await flow.photos(accessToken)).status).toBe(200)
    const stranger = { registration: { ...nightlyReport.registration, client_id: 'a\u0000b' }, secret: 'x' }
    expect(refusalOf(await flow.request(stranger, grant))).toBe('401 invalid_client')
  })

  test('leads an owner and a client the main way, lists what the owner approved, and ends it', async () => {
    const { flow, oauth } = stage({ authorizations: true })
    const first = await flow.tokens(photoPrint, {}, 'carol')
    const { accessToken } = tokensOf(await flow.refresh(photoPrint, first.refreshToken))
    expect((await flow.photos(accessToken)).body).toMatchObject({ subject: 'carol' })
    const { authorizations } = await oauth.authorizations.list('carol')
    expect(authorizations).toMatchObject([{ clientId: 'photo-print' }])
    expect(await oauth.authorizations.revokeAll('carol')).toMatchObject({ count: 1 })
    for (const token of [first.accessToken, accessToken]) expect((await flow.photos(token)).status).toBe(401)
    expect((await oauth.authorizations.list('carol')).authorizations).toEqual([])
  })

  test('writes digests only, one row for an authorization, and gets new connections when all of them break', async () => {
    await pool.query('truncate oauth_authorizations')
    const { flow } = stage()
    const { accessToken, refreshToken } = await flow.tokens(photoBook)
    const { rows } = await pool.query<{ record: string }>('select record from oauth_authorizations')
    expect(rows).toHaveLength(1)
    for (const token of [accessToken, refreshToken]) expect(rows[0]?.record).not.toContain(token.slice(-20))
    const other = new Pool({ connectionString: server.url, max: 1 })
    await other.query(`select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()`)
    await other.end()
    await waitUntil('it answers again', async () => (await flow.photos(accessToken)).status === 200)
    expect((await flow.refresh(photoBook, refreshToken)).status).toBe(200)
  })

  test('is temporarily unavailable where there is no such database', async () => {
    const none = new Pool({ connectionString: server.url + '-not' })
    const { flow } = stage({ store: postgresStore(none) })
    expect((await flow.photos(`at_${'A'.repeat(65)}`)).status).toBe(503)
    expect(refusalOf(await flow.request(nightlyReport, grant))).toBe('400 temporarily_unavailable')
    await none.end()
  })
})
