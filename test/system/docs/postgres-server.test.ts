import { Pool } from 'pg'
import { postgresClients } from '../../../docs/examples/postgres-clients'
import { postgresStore } from '../../../docs/examples/postgres-store'
import { application } from '../../support/flows/application'
import { authorizationRequest } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { everyClient, nightlyReport, photoBook, photoPrint } from '../../support/flows/clients'
import { refusalOf, tokensOf } from '../../support/flows/tokens'
import { usePostgresTables } from '../../support/docs/postgres-tables'
import { waitUntil } from '../../support/wait-until'
import type { AuthorizationServerOptions } from '../../../lib/index'

const tables = usePostgresTables()
// A machine under load is not a store in trouble.
const stage = (options: Partial<AuthorizationServerOptions> = {}) =>
  application({ store: tables().store, storeDeadline: 10, ...options })

describe('a server on PostgreSQL', () => {
  test.each([photoBook, photoPrint])('leads $registration.client_id the main way', async (client) => {
    const { flow } = stage()
    const first = await flow.tokens(client)
    expect((await flow.photos(first.accessToken)).body).toMatchObject({ subject: 'alice' })
    const second = tokensOf(await flow.refresh(client, first.refreshToken))
    expect((await flow.photos(second.accessToken)).status).toBe(200)
  })

  test('gives a client a token for itself, and finds clients in PostgreSQL, too', async () => {
    const clients = postgresClients(tables().pool)
    for (const { registration } of everyClient) await clients.add(registration)
    const { flow } = stage({ clients })
    const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
    const { accessToken } = tokensOf(await flow.request(nightlyReport, grant))
    expect((await flow.photos(accessToken)).status).toBe(200)
    const stranger = { registration: { ...nightlyReport.registration, client_id: 'a\u0000b' }, secret: 'x' }
    expect(refusalOf(await flow.request(stranger, grant))).toBe('401 invalid_client')
  })

  test('of 50 parallel redemptions of a code one wins, and the replays end its tokens', async () => {
    const { flow } = stage()
    const code = await flow.approve(photoBook)
    const responses = await Promise.all(Array.from({ length: 50 }, () => flow.redeem(photoBook, code)))
    const winners = responses.filter(({ status }) => status === 200)
    expect(winners).toHaveLength(1)
    const losers = responses.filter(({ status }) => status !== 200)
    expect(new Set(losers.map(refusalOf))).toEqual(new Set(['400 invalid_grant']))
    for (const { accessToken } of winners.map(tokensOf))
      expect((await flow.photos(accessToken)).status).toBe(401)
  })

  test('of 50 parallel refreshes with a grace all get the same pair', async () => {
    const { flow } = stage()
    const { refreshToken } = await flow.tokens(photoBook)
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => flow.refresh(photoBook, refreshToken)),
    )
    expect(new Set(responses.map((response) => tokensOf(response).refreshToken)).size).toBe(1)
  })

  test('a refresh token that is used twice ends the authorization', async () => {
    const { flow } = stage({ lifetimes: { refreshTokenGrace: 0 } })
    const { refreshToken } = await flow.tokens(photoBook)
    const { accessToken } = tokensOf(await flow.refresh(photoBook, refreshToken))
    expect(refusalOf(await flow.refresh(photoBook, refreshToken))).toBe('400 invalid_grant')
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  test('a revoked token is refused from then on', async () => {
    const { flow } = stage()
    const { accessToken, refreshToken } = await flow.tokens(photoPrint)
    expect((await flow.revoke(photoPrint, refreshToken)).status).toBe(200)
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect(refusalOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
  })

  test('lists what an owner has approved, and ends all of it', async () => {
    const { flow, oauth } = stage({ authorizations: true })
    const tokens = [await flow.tokens(photoBook, {}, 'carol'), await flow.tokens(photoPrint, {}, 'carol')]
    const { authorizations } = await oauth.authorizations.list('carol')
    expect(authorizations.map(({ clientId }) => clientId).toSorted()).toEqual(['photo-book', 'photo-print'])
    expect(await oauth.authorizations.revokeAll('carol')).toMatchObject({ count: 2 })
    for (const { accessToken } of tokens) expect((await flow.photos(accessToken)).status).toBe(401)
    expect((await oauth.authorizations.list('carol')).authorizations).toEqual([])
  })

  test('an authorization that is revoked before its record exists gives the client nothing', async () => {
    const { store } = tables()
    const gate = { isOpen: false, hasEntry: false }
    const index: typeof store.index = {
      ...store.index,
      async add(...given) {
        const outcome = await store.index.add(...given)
        gate.hasEntry = true
        await waitUntil('the gate opens', async () => gate.isOpen)
        return outcome
      },
    }
    const { flow, oauth } = stage({
      store: { ...store, index },
      authorizations: true,
      skipConsent: () => true,
    })
    const asked = flow.ask(authorizationRequest(photoBook), 'dave')
    await waitUntil('the index has the entry', async () => gate.hasEntry)
    await oauth.authorizations.revokeAll('dave')
    gate.isOpen = true
    expect(outcomeOf(await asked)).toBe('redirect temporarily_unavailable')
    expect((await oauth.authorizations.list('dave')).authorizations).toEqual([])
  })

  test('writes digests only, and uses one row for an authorization', async () => {
    const { pool } = tables()
    await pool.query('truncate oauth_authorizations')
    const { flow } = stage()
    const { accessToken, refreshToken } = await flow.tokens(photoBook)
    const { rows } = await pool.query<{ record: string }>('select record from oauth_authorizations')
    expect(rows).toHaveLength(1)
    for (const token of [accessToken, refreshToken]) expect(rows[0]?.record).not.toContain(token.slice(-20))
  })

  test('gets new connections when all of them break, idle ones too, and stays alive', async () => {
    const { flow } = stage()
    const { accessToken, refreshToken } = await flow.tokens(photoBook)
    const other = new Pool({ connectionString: tables().server.url, max: 1 })
    await other.query(`select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()`)
    await other.end()
    await waitUntil('it answers again', async () => (await flow.photos(accessToken)).status === 200)
    expect((await flow.refresh(photoBook, refreshToken)).status).toBe(200)
  })

  test('is temporarily unavailable where there is no such database', async () => {
    const pool = new Pool({ connectionString: tables().server.url + '-not' })
    const { flow } = stage({ store: postgresStore(pool) })
    expect((await flow.photos(`at_${'A'.repeat(64)}`)).status).toBe(503)
    const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
    expect(refusalOf(await flow.request(nightlyReport, grant))).toBe('400 temporarily_unavailable')
    await pool.end()
  })
})
