import type { Response } from 'supertest'
import { bent, everyClient, nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { expectJsonThatNobodyKeeps, refusalOf, tokensOf } from '../support/flows/tokens'

/** A resource server that gets tokens of its own, too. */
const report = bent(nightlyReport, { may_introspect: true })
/** A client that may introspect and has refresh tokens. */
const frame = bent(photoFrame, { may_introspect: true })
const clients = [photoBook, photoPrint, frame, report].map(({ registration }) => registration)

function answerOf(response: Response): unknown {
  expect(response.status).toBe(200)
  expectJsonThatNobodyKeeps(response)
  return JSON.parse(response.text)
}

describeOnStores('Introspection', (stage) => {
  test('[INT-2] tells a resource server what any good access token stands for', async () => {
    const { flow, clock } = stage({ clients })
    for (const client of [photoBook, photoPrint]) {
      const exp = Math.floor(clock.read() / 1000) + 3600
      const { accessToken } = await flow.tokens(client, { scope: 'photos:read' })
      expect(answerOf(await flow.introspect(report, accessToken))).toEqual({
        active: true,
        scope: 'photos:read',
        client_id: client.registration.client_id,
        token_type: 'bearer',
        exp,
        sub: 'alice',
        iss: 'http://localhost',
      })
    }
  })

  test('[INT-3] names the client as the subject where it acts for itself', async () => {
    const { flow } = stage({ clients })
    const grant = { grant_type: 'client_credentials', scope: 'reports:write' }
    const { accessToken } = tokensOf(await flow.request(report, grant))
    expect(answerOf(await flow.introspect(report, accessToken))).toMatchObject({
      active: true,
      client_id: 'nightly-report',
      sub: 'nightly-report',
    })
  })

  test('[INT-4] says no more than that a token is not good', async () => {
    const { flow, clock, oauth } = stage({ clients })
    const tokens = await flow.tokens(photoBook)
    const garbage = `at_${tokens.accessToken.slice(3, 25)}${'A'.repeat(42)}`
    const code = await flow.approve(photoBook)
    const dead = await flow.tokens(photoBook)
    await flow.revoke(photoBook, dead.refreshToken)
    for (const token of ['x', '\u00e9', garbage, code, dead.accessToken])
      expect(answerOf(await flow.introspect(report, token))).toEqual({ active: false })
    clock.advance(3600)
    expect(answerOf(await flow.introspect(report, tokens.accessToken))).toEqual({ active: false })
    expect(oauth.events.listenerCount('failure')).toBe(1)
  })

  test('[INT-5] tells of a refresh token to the client that holds it, and to nobody else', async () => {
    const { flow } = stage({ clients })
    const { refreshToken } = await flow.tokens(frame)
    const answer = answerOf(await flow.introspect(frame, refreshToken))
    expect(answer).toMatchObject({
      active: true,
      client_id: 'photo-frame',
      sub: 'alice',
      scope: 'photos:read',
    })
    expect(answer).not.toHaveProperty('token_type')
    expect(answerOf(await flow.introspect(report, refreshToken))).toEqual({ active: false })
    tokensOf(await flow.refresh(frame, refreshToken))
    expect(answerOf(await flow.introspect(frame, refreshToken))).toEqual({ active: false })
  })

  test('[INT-1] refuses everybody else before it looks', async () => {
    const { flow, store, failures } = stage()
    const { accessToken } = await flow.tokens(photoPrint)
    const { find } = store.calls
    for (const client of everyClient)
      expect(refusalOf(await flow.introspect(client, accessToken))).toBe('400 unauthorized_client')
    expect(refusalOf(await flow.introspect({ ...report, secret: 'guess' }, accessToken))).toBe(
      '401 invalid_client',
    )
    expect(refusalOf(await flow.submit('/introspect', { token: accessToken }))).toBe('401 invalid_client')
    expect(store.calls.find).toBe(find)
    expect(new Set(failures.map(({ endpoint }) => endpoint))).toEqual(new Set(['introspection']))
  })

  test('[INT-6] wants a token, in the body, and no hint', async () => {
    const { flow } = stage({ clients })
    const { accessToken } = await flow.tokens(photoBook)
    expect(refusalOf(await flow.introspect(report, ''))).toBe('400 invalid_request')
    const inQuery = await flow.request(report, {}, `/introspect?token=${accessToken}`)
    expect(refusalOf(inQuery)).toBe('400 invalid_request')
    expect((await flow.open('/introspect')).status).toBe(405)
    const hinted = await flow.introspect(report, accessToken, { token_type_hint: 'refresh_token' })
    expect(answerOf(hinted)).toMatchObject({ active: true })
  })
})
