import { voucherGrant } from '../../docs/examples/voucher-grant'
import { decodeAuthorization } from '../../lib/authorization/codec'
import { memoryStore } from '../../lib/index'
import { jwtBearer } from '../../lib/paths/grants'
import { audience, claimsAt, hub, hubOnCurve, issuers, jwt } from '../support/assertions/jwt'
import { KeyServer } from '../support/assertions/key-server'
import { application } from '../support/flows/application'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { accessClaims, accessJwt } from '../support/jwt-guard/access-tokens'
import { guardedPhotos } from '../support/jwt-guard/guarded-photos'
import { grantTypeOf } from '../support/grant-type-of'

const bearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const vouchers = voucherGrant(async (voucher) => (voucher === 'PAPER-1' ? 'alice' : undefined))
const plugins = [
  jwtBearer({ issuers, audience, resourceOwner: ({ subject }) => subject }),
  { name: 'voucher', grantTypes: [vouchers] },
]
const desk = bent(photoPrint, { grant_types: ['refresh_token', bearer, vouchers.name] })
const clients = [desk.registration, photoBook.registration, nightlyReport.registration]

const open = (stage: SetStage) => stage({ plugins, clients, lifetimes: { accessToken: 60 } })

type Fields = Readonly<Record<string, string>>

const ask = ({ flow }: Stage, request: Fields) => flow.request(desk, request)

/** A request with an assertion, which is good once. */
const make = (clock: Clock): Fields => ({
  grant_type: bearer,
  assertion: jwt(hub, claimsAt(Math.floor(clock.read() / 1000))),
  scope: 'photos:read',
})

describe('An assertion', () => {
  describeOnStores('is good for one token', (stage) => {
    test('and is not used up by a request that the store could not write', async () => {
      const set = open(stage)
      const request = make(set.clock)
      set.store.begin('fails', 'write')
      expect(refusalOf(await ask(set, request))).toBe('400 temporarily_unavailable')
      set.store.recover()
      const { accessToken } = tokensOf(await ask(set, request))
      expect((await set.flow.photos(accessToken)).status).toBe(200)
      expect(refusalOf(await ask(set, request))).toBe('400 invalid_grant')
    })

    test('and stays used when its token has expired', async () => {
      const set = open(stage)
      const request = make(set.clock)
      tokensOf(await ask(set, request))
      set.clock.advance(61)
      expect(refusalOf(await ask(set, request))).toBe('400 invalid_grant')
    })

    test('and stays used when its owner removes the client, twice, and then everything, twice', async () => {
      const set = stage({ plugins, clients, authorizations: true })
      const request = make(set.clock)
      tokensOf(await ask(set, request))
      const { authorizations } = set.oauth
      const owner = 'voucher' in request ? 'alice' : 'alice@issuer.example'
      const [listed] = (await authorizations.list(owner)).authorizations
      for (let time = 0; time < 2; time++) await authorizations.revoke(owner, 'photo-print')
      for (let time = 0; time < 2; time++) await authorizations.revokeAll(owner)
      expect(refusalOf(await ask(set, request))).toBe('400 invalid_grant')
      const id = listed?.authorizationId ?? ''
      const stored = await set.store.read(`authorization:${id}`)
      expect(decodeAuthorization(id, stored?.value ?? '')).toMatchObject({
        state: 'active',
        accessTokens: [],
      })
    })
  })
})

test('A refresh token that is used again ends the grant of a voucher, which stays used', async () => {
  const clock = new Clock()
  const store = memoryStore({ clock: clock.read })
  const { flow } = application({
    store,
    clock: clock.read,
    plugins,
    clients,
    lifetimes: { refreshTokenGrace: 0 },
  })
  const request = { grant_type: vouchers.name, voucher: 'PAPER-1', scope: 'photos:read' }
  const { refreshToken } = tokensOf(await flow.request(desk, request))
  const { accessToken } = tokensOf(await flow.refresh(desk, refreshToken))
  expect(refusalOf(await flow.refresh(desk, refreshToken))).toBe('400 invalid_grant')
  expect((await flow.photos(accessToken)).status).toBe(401)
  expect(refusalOf(await flow.request(desk, request))).toBe('400 invalid_grant')
})

describe('A process whose clock is as far behind as the tolerance', () => {
  test('does not take an assertion again that another one has taken', async () => {
    const clock = new Clock()
    const store = memoryStore({ clock: clock.read })
    const taken = jwtBearer({ issuers, audience, resourceOwner: () => 'alice', clockTolerance: 10 })
    const at = (behind: number) =>
      application({
        store,
        clock: () => clock.read() - behind * 1000,
        plugins: [taken, { name: 'host-grant-types', grantTypes: [vouchers] }],
        clients,
        lifetimes: { accessToken: 1 },
      }).flow
    const [here, behind] = [at(0), at(10)]
    const claims = claimsAt(Math.floor(clock.read() / 1000))
    const request = { grant_type: grantTypeOf(taken), assertion: jwt(hub, claims), scope: 'photos:read' }
    tokensOf(await here.request(desk, request))
    // To the last second in which the other process takes it, and to the first in which it does not.
    for (const seconds of [309, 1, 2, 3, 4, 1]) {
      clock.advance(seconds)
      expect(refusalOf(await behind.request(desk, request))).toBe('400 invalid_grant')
    }
  })
})

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

  test('does not lengthen the limit on guesses at a client', async () => {
    const { flow } = application({
      clock: clock.read,
      limits: { clientAuthentication: { client: { attempts: 1, seconds: 60 } } },
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
    const { flow } = application({ store, clock: clock.read, lifetimes: { accessToken: 10 } })
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
    const { ask: askPhotos, token, clock, now } = guardedPhotos({ jwks_uri: issuer.uri })
    clock.advance(day)
    expect((await askPhotos(token())).status).toBe(200)
    clock.advance(-day)
    issuer.publish(hubOnCurve.jwk)
    const byNewKey = accessJwt(accessClaims(now()), hubOnCurve)
    expect((await askPhotos(byNewKey)).status).toBe(200)
    expect((await askPhotos(token())).status).toBe(401)
  })
})
