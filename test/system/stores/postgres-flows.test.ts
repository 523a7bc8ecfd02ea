import { Pool } from 'pg'
import { postgresStore } from 'express-authorization-server/postgres'
import type { AuthorizationServerOptions } from '../../../lib/index'
import { application } from '../../support/flows/application'
import { nightlyReport, photoBook, photoPrint } from '../../support/flows/clients'
import { refusalOf, tokensOf } from '../../support/flows/tokens'
import { withPostgres } from '../../support/stores/postgres-under-test'
import { waitUntil } from '../../support/wait-until'

const postgres = withPostgres()
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
// A machine under load is not a store in trouble.
const stage = (options: Partial<AuthorizationServerOptions> = {}) =>
  application({ store: postgresStore({ pool: postgres.open() }), storeDeadline: 10, ...options })

describe('servers on PostgreSQL', () => {
  test('lead an owner and a client the main way, each step at another process, and end it everywhere', async () => {
    const [one, other] = [stage().flow, stage().flow]
    const first = await one.tokens(photoPrint, {}, 'carol')
    const { accessToken, refreshToken } = tokensOf(await other.refresh(photoPrint, first.refreshToken))
    expect((await one.photos(accessToken)).body).toMatchObject({ subject: 'carol' })
    expect((await other.revoke(photoPrint, refreshToken)).status).toBe(200)
    for (const token of [first.accessToken, accessToken]) expect((await one.photos(token)).status).toBe(401)
    expect(refusalOf(await one.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
  })

  test('redeem a code once, whichever of them gets it', async () => {
    const [one, other] = [stage().flow, stage().flow]
    for (let round = 0; round < 5; round++) {
      const code = await one.approve(photoBook)
      const ends = await Promise.all(
        Array.from({ length: 16 }, (_, index) => (index % 2 ? one : other).redeem(photoBook, code)),
      )
      expect(ends.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    }
  })

  test('write digests only, one row for an authorization, and get new connections when all of them break', async () => {
    await postgres.pool().query('truncate oauth_records')
    const { flow } = stage()
    const { accessToken, refreshToken } = await flow.tokens(photoBook)
    const { rows } = await postgres
      .pool()
      .query<{ value: Buffer }>(`select value from oauth_records where key like 'authorization:%'`)
    expect(rows).toHaveLength(1)
    for (const token of [accessToken, refreshToken])
      expect(rows[0]?.value.toString()).not.toContain(token.slice(-20))
    await postgres
      .pool()
      .query('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()')
    await waitUntil('it answers again', async () => (await flow.photos(accessToken)).status === 200)
    expect((await flow.refresh(photoBook, refreshToken)).status).toBe(200)
  })

  test('are temporarily unavailable where there is no such database', async () => {
    const none = new Pool({ connectionString: `${postgres.server().url}-not` })
    const { flow } = stage({ store: postgresStore({ pool: none }) })
    expect((await flow.photos(`at_${'A'.repeat(65)}`)).status).toBe(503)
    expect(refusalOf(await flow.request(nightlyReport, grant))).toBe('400 temporarily_unavailable')
    await none.end()
  })
})
