import { memoryStore } from '../../lib/index'
import { hub, hubOnCurve } from '../support/assertions/jwt'
import { KeyServer } from '../support/assertions/key-server'
import { accessClaims, accessJwt } from '../support/jwt-guard/access-tokens'
import { guardedPhotos } from '../support/jwt-guard/guarded-photos'
import { application } from '../support/flows/application'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const hour = 3600
const day = 24 * hour
const grant = { grant_type: 'client_credentials', scope: 'reports:write' }

describeOnStores('A clock that was an hour ahead and is set right', (stage) => {
  test('does not keep a rotated-out refresh token in its grace: presented 50 minutes later it revokes', async () => {
    const { flow, clock, failures } = stage()
    const first = await flow.tokens(photoBook)
    clock.advance(hour)
    const second = tokensOf(await flow.refresh(photoBook, first.refreshToken))
    clock.advance(-hour)
    clock.advance(hour - 600)
    expect(refusalOf(await flow.refresh(photoBook, first.refreshToken))).toBe('400 invalid_grant')
    expect(failures.at(-1)).toMatchObject({ reason: 'refresh_token_reused' })
    expect((await flow.photos(second.accessToken)).status).toBe(401)
  })

  test('leaves the grace between processes whose clocks differ by seconds', async () => {
    const { flow, clock } = stage()
    const { refreshToken } = await flow.tokens(photoBook)
    clock.advance(5)
    const pair = tokensOf(await flow.refresh(photoBook, refreshToken))
    clock.advance(-5)
    expect(tokensOf(await flow.refresh(photoBook, refreshToken))).toMatchObject({
      accessToken: pair.accessToken,
    })
  })
})

describe('A clock that was a day ahead and is set right', () => {
  const clock = new Clock()

  const limit = { attempts: 1, seconds: 60 }
  test.each([
    ['by network', { rateLimit: { authorization: limit } }],
    ['on open requests of an owner', { openRequestLimit: limit }],
  ])('does not lengthen the limit %s', async (_what, limited) => {
    const { flow } = application({ clock: clock.read, ...limited })
    const asked = authorizationRequest(photoBook)
    clock.advance(day)
    expect((await flow.ask(asked, 'alice')).status).toBe(200)
    clock.advance(-day)
    expect((await flow.ask(asked, 'alice')).status).toBe(429)
    clock.advance(60)
    expect((await flow.ask(asked, 'alice')).status).toBe(200)
  })

  test('does not lengthen the limit on guesses at a client', async () => {
    const { flow } = application({
      clock: clock.read,
      clientAuthenticationLimits: { client: { attempts: 1, seconds: 60 } },
    })
    const guess = async () => {
      const guesser = { client_id: photoBook.registration.client_id, client_secret: 'wrong' }
      return (await flow.submit('/token', { ...grant, ...guesser })).status
    }
    clock.advance(day)
    expect([await guess(), await guess()]).toEqual([401, 429])
    clock.advance(-day)
    expect(await guess()).toBe(429)
    clock.advance(60)
    expect(await guess()).toBe(401)
  })

  test('lets the memory store free the room of what has expired', async () => {
    const store = memoryStore({ maximumRecords: 8, clock: clock.read })
    const { flow } = application({ store, clock: clock.read, accessTokenLifetime: 10 })
    clock.advance(day)
    tokensOf(await flow.request(nightlyReport, grant))
    clock.advance(-day)
    for (let round = 0; round < 30; round++) {
      clock.advance(10)
      expect((await flow.request(nightlyReport, grant)).status).toBe(200)
    }
  })
})

describe('The keys of an issuer that were fetched while the clock was ahead', () => {
  const issuer = new KeyServer()
  beforeAll(() => issuer.start())
  afterAll(() => issuer.stop())

  test('are fetched again once the clock is right, so that a new key is known and a withdrawn one is not', async () => {
    issuer.publish(hub.jwk)
    const { ask, token, clock, now } = guardedPhotos({ jwksUri: issuer.uri })
    clock.advance(day)
    expect((await ask(token())).status).toBe(200)
    clock.advance(-day)
    issuer.publish(hubOnCurve.jwk)
    const byNewKey = accessJwt(accessClaims(now()), hubOnCurve)
    expect((await ask(byNewKey)).status).toBe(200)
    expect((await ask(token())).status).toBe(401)
  })
})
