import { voucherGrant } from '../../docs/examples/voucher-grant'
import { jwtBearer, memoryStore } from '../../lib/index'
import { audience, claimsAt, hub, issuers, jwt } from '../support/assertions/jwt'
import { application } from '../support/flows/application'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const assertions = jwtBearer({ issuers, audience, resourceOwner: ({ subject }) => subject })
const vouchers = voucherGrant(async (voucher) => (voucher === 'PAPER-1' ? 'alice' : undefined))
const grantTypes = [assertions, vouchers]
const desk = bent(photoPrint, { grant_types: ['refresh_token', assertions.name, vouchers.name] })
const clients = [desk.registration, photoBook.registration, nightlyReport.registration]

const open = (stage: SetStage) => stage({ grantTypes, clients, accessTokenLifetime: 60 })

type Fields = Readonly<Record<string, string>>

const ask = ({ flow }: Stage, request: Fields) => flow.request(desk, request)

/** A request with something that is good once, for each of the two grant types. */
const requests: readonly (readonly [title: string, make: (clock: Clock) => Fields])[] = [
  [
    'An assertion',
    (clock) => ({
      grant_type: assertions.name,
      assertion: jwt(hub, claimsAt(Math.floor(clock.read() / 1000))),
      scope: 'photos:read',
    }),
  ],
  ['A voucher', () => ({ grant_type: vouchers.name, voucher: 'PAPER-1', scope: 'photos:read' })],
]

describe.each(requests)('%s', (_, make) => {
  describeOnStores('is good for one token', (stage) => {
    test('and is not used up by a request that the store could not write', async () => {
      const set = open(stage)
      const request = make(set.clock)
      set.store.begin('fails', 'save')
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

    test('and stays used when its token is revoked by the client, twice', async () => {
      const set = open(stage)
      const request = make(set.clock)
      const { accessToken } = tokensOf(await ask(set, request))
      for (let times = 0; times < 2; times++) {
        expect((await set.flow.revoke(desk, accessToken)).status).toBe(200)
        expect((await set.flow.photos(accessToken)).status).toBe(401)
        expect(refusalOf(await ask(set, request))).toBe('400 invalid_grant')
      }
    })

    test('and stays used when the host revokes its authorization', async () => {
      const set = open(stage)
      const request = make(set.clock)
      const { accessToken } = tokensOf(await ask(set, request))
      const { authorizationId } = (await set.flow.photos(accessToken)).body
      for (let times = 0; times < 2; times++) {
        await set.oauth.revoke(authorizationId)
        expect((await set.flow.photos(accessToken)).status).toBe(401)
        expect(refusalOf(await ask(set, request))).toBe('400 invalid_grant')
      }
    })

    test('for whichever client comes first', async () => {
      const set = open(stage)
      const request = make(set.clock)
      tokensOf(await ask(set, request))
      expect(refusalOf(await set.flow.request(photoBook, request))).toBe('400 unauthorized_client')
      expect(refusalOf(await ask(set, request))).toBe('400 invalid_grant')
    })
  })

  test('is not used up where the memory store is full', async () => {
    const clock = new Clock()
    const store = memoryStore({ maximumRecords: 1, clock: clock.read })
    const options = { store, clock: clock.read, grantTypes, clients, accessTokenLifetime: 60 }
    const { flow } = application(options)
    const request = make(clock)
    const other = { grant_type: 'client_credentials', scope: 'reports:write' }
    tokensOf(await flow.request(nightlyReport, other))
    expect(refusalOf(await flow.request(desk, request))).toBe('400 temporarily_unavailable')
    clock.advance(61)
    tokensOf(await flow.request(desk, request))
  })
})

test('A refresh token that is used again ends the grant of a voucher, which stays used', async () => {
  const clock = new Clock()
  const store = memoryStore({ clock: clock.read })
  const { flow } = application({ store, clock: clock.read, grantTypes, clients, refreshTokenGrace: 0 })
  const request = { grant_type: vouchers.name, voucher: 'PAPER-1', scope: 'photos:read' }
  const { refreshToken } = tokensOf(await flow.request(desk, request))
  const { accessToken } = tokensOf(await flow.refresh(desk, refreshToken))
  expect(refusalOf(await flow.refresh(desk, refreshToken))).toBe('400 invalid_grant')
  expect((await flow.photos(accessToken)).status).toBe(401)
  expect(refusalOf(await flow.request(desk, request))).toBe('400 invalid_grant')
})

test('Two issuers on one store use up assertions and vouchers each for itself', async () => {
  const clock = new Clock()
  const store = memoryStore({ clock: clock.read })
  const request = { grant_type: vouchers.name, voucher: 'PAPER-1', scope: 'photos:read' }
  for (const issuer of ['http://localhost', 'http://127.0.0.1']) {
    const { flow } = application({ issuer, store, clock: clock.read, grantTypes, clients })
    expect((await flow.request(desk, request)).status).toBe(200)
    expect(refusalOf(await flow.request(desk, request))).toBe('400 invalid_grant')
  }
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
        grantTypes: [taken, vouchers],
        clients,
        accessTokenLifetime: 1,
      }).flow
    const [here, behind] = [at(0), at(10)]
    const claims = claimsAt(Math.floor(clock.read() / 1000))
    const request = { grant_type: taken.name, assertion: jwt(hub, claims), scope: 'photos:read' }
    tokensOf(await here.request(desk, request))
    // To the last second in which the other process takes it, and to the first in which it does not.
    for (const seconds of [309, 1, 2, 3, 4, 1]) {
      clock.advance(seconds)
      expect(refusalOf(await behind.request(desk, request))).toBe('400 invalid_grant')
    }
  })
})
