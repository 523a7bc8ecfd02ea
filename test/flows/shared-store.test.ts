import express from 'express'
import request from 'supertest'
import { memoryStore } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { jwtBearer } from '../../lib/paths/grants'
import { audience, issuers } from '../support/assertions/jwt'
import { application, canonicalOptions } from '../support/flows/application'
import { bent, nightlyReport, photoPrint } from '../support/flows/clients'
import { authorizationRequest, Flow } from '../support/flows/flow'
import { codeOf } from '../support/flows/redirection'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { grantTypeOf } from '../support/grant-type-of'

const assertions = jwtBearer({ issuers, audience, resourceOwner: () => 'alice' })
const client = bent(photoPrint, {
  may_introspect: true,
  grant_types: ['authorization_code', 'refresh_token', grantTypeOf(assertions)],
})
const options = { clients: [client.registration], plugins: [assertions] }
const otherIssuer = 'http://127.0.0.1'

/** A server, and another one of another issuer on the same store, with the same registered client. */
function twoServers(stage: SetStage) {
  const own = stage(options)
  const always = { store: own.store, clock: own.clock.read, storeDeadline: 10 }
  return { own, other: application({ ...always, ...options, issuer: otherIssuer }), always }
}

const isGood = async ({ flow }: { readonly flow: Flow }, accessToken: string) =>
  (await flow.photos(accessToken)).status

describeOnStores('Of two issuers on one store', (stage) => {
  test('no access token of the one passes at the other [token-31]', async () => {
    const { own, other, always } = twoServers(stage)
    const { accessToken, refreshToken } = await own.flow.tokens(client)
    expect(await isGood(other, accessToken)).toBe(401)
    for (const token of [accessToken, refreshToken])
      expect((await other.flow.introspect(client, token)).body).toEqual({ active: false })
    for (const [issuer, status] of [
      [canonicalOptions.issuer, 200],
      [otherIssuer, 401],
    ] as const) {
      const app = express()
      app.get('/photos', createBearerGuard({ issuer, ...always })('photos:read'), (_request, response) => {
        response.end()
      })
      expect(await isGood({ flow: new Flow(app) }, accessToken)).toBe(status)
    }
    expect((await own.flow.introspect(client, accessToken)).body).toMatchObject({ active: true })
  })

  test('the one redeems no code of the other, and neither a failure nor a replay there ends anything', async () => {
    const { own, other } = twoServers(stage)
    const code = await own.flow.approve(client)
    for (let attempt = 0; attempt < 6; attempt++)
      expect(refusalOf(await other.flow.redeem(client, code))).toBe('400 invalid_grant')
    const { accessToken } = tokensOf(await own.flow.redeem(client, code))
    expect(refusalOf(await other.flow.redeem(client, code))).toBe('400 invalid_grant')
    expect(await isGood(own, accessToken)).toBe(200)
    expect(other.failures.map(({ reason }) => reason)).toEqual(
      Array.from({ length: 7 }, () => 'code_unknown'),
    )
  })

  test('the one refreshes nothing of the other, and a refresh token that is used up there ends nothing', async () => {
    const { own, other } = twoServers(stage)
    const first = await own.flow.tokens(client)
    expect(refusalOf(await other.flow.refresh(client, first.refreshToken))).toBe('400 invalid_grant')
    const second = tokensOf(await own.flow.refresh(client, first.refreshToken))
    own.clock.advance(60)
    expect(refusalOf(await other.flow.refresh(client, first.refreshToken))).toBe('400 invalid_grant')
    expect(await isGood(own, second.accessToken)).toBe(200)
  })

  test('the one revokes nothing of the other, neither for a client nor for its host', async () => {
    const { own, other } = twoServers(stage)
    const { accessToken, refreshToken } = await own.flow.tokens(client)
    for (const token of [accessToken, refreshToken])
      expect((await other.flow.revoke(client, token)).status).toBe(200)
    const { authorizationId } = (await own.flow.photos(accessToken)).body
    await other.oauth.revoke(authorizationId)
    expect(await isGood(own, accessToken)).toBe(200)
    await own.oauth.revoke(authorizationId)
    expect(await isGood(own, accessToken)).toBe(401)
  })

  test('the one takes no decision on a request of the other, which stays open', async () => {
    const { own, other } = twoServers(stage)
    const page = await own.flow.ask(authorizationRequest(client), 'alice')
    for (const decision of ['approve', 'deny'])
      expect((await other.flow.decide(page, decision, 'alice')).status).toBe(400)
    const code = codeOf(await own.flow.decide(page, 'approve', 'alice'))
    expect((await own.flow.redeem(client, code)).status).toBe(200)
  })

  test('both count failures of a client together', async () => {
    const three = { attempts: 3 }
    const limits = { clientAuthentication: { clientAndAddress: three } }
    const counters = memoryStore()
    const guesses: string[] = []
    for (const issuer of [canonicalOptions.issuer, otherIssuer]) {
      const { flow } = application({ ...options, limits, counters, issuer })
      for (let guess = 0; guess < 2; guess++)
        guesses.push(refusalOf(await flow.refresh({ ...client, secret: 'guess' }, 'x')))
    }
    expect(guesses).toEqual([...Array.from({ length: 3 }, () => '401 invalid_client'), guesses[3]])
    expect(guesses[3]).toMatch(/^429/)
  })
})

const asks = (app: express.Express) =>
  request(app)
    .post('/')
    .auth(nightlyReport.registration.client_id, nightlyReport.secret)
    .type('form')
    .send({ grant_type: 'client_credentials', scope: 'photos:read' })

describe('of two servers in one application', () => {
  it('one issues nothing to a client that only the other one has authenticated', async () => {
    const { oauth: one } = application()
    const { oauth: other } = application(options)
    const app = express()
    app.post('/', one.clientAuthentication(), ...other.token())
    const { status, body } = await asks(app)
    expect({ status, body }).toEqual({
      status: 401,
      body: expect.objectContaining({ error: 'invalid_client' }),
    })
  })
})
