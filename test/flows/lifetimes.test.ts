import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { AuthorizationServerOptions, ClientRegistration } from '../../lib/index'
import { redisStore } from '../../lib/paths/redis'
import { application } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { bent, nightlyReport, photoPrint } from '../support/flows/clients'
import { getTokens } from '../support/flows/registered-client'
import { describeRegistration, notesApp } from '../support/flows/registering'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { withRedis } from '../support/with-redis'
import {
  job,
  mountResources,
  photosApi,
  printApi,
  reportsApi,
  threeResources,
  withResources,
} from '../support/flows/resources'
import { setStage } from '../support/flows/stage'

const hour = 3600
const print = bent(photoPrint, { may_introspect: true })
const clients = (...all: readonly { readonly registration: ClientRegistration }[]) => ({
  clients: all.map(({ registration }) => registration),
})
const grantOf = (seconds: number): Partial<AuthorizationServerOptions> => ({
  lifetimes: { grant: seconds },
  ...clients(print),
})

describeOnStores('The absolute end of a grant', (stage) => {
  test('may come before the end of the code, which then gives no tokens', async () => {
    const { flow, clock, failures } = stage(grantOf(30))
    const code = await flow.approve(print)
    clock.advance(30)
    expect(refusalOf(await flow.redeem(print, code))).toBe('400 invalid_grant')
    expect(failures.at(-1)).toMatchObject({ reason: 'grant_expired' })
    expect(refusalOf(await flow.redeem(print, code))).toBe('400 invalid_grant')
    expect(failures.at(-1)).toMatchObject({ reason: 'code_unknown' })
  })

  test('is the exp of a refresh token that would live longer', async () => {
    const { flow, clock } = stage(grantOf(hour))
    const { refreshToken } = await flow.tokens(print)
    const exp = Math.floor(clock.read() / 1000) + hour
    expect((await flow.introspect(print, refreshToken)).body).toMatchObject({ active: true, exp })
    clock.advance(hour)
    expect((await flow.introspect(print, refreshToken)).body).toEqual({ active: false })
  })

  test('is not passed by a repetition within the grace', async () => {
    const { flow, clock } = stage({
      ...grantOf(100),
      lifetimes: { grant: 100, accessToken: 10, refreshTokenGrace: 300 },
    })
    const { refreshToken } = await flow.tokens(print)
    clock.advance(50)
    await flow.refresh(print, refreshToken)
    clock.advance(45)
    expect(tokensOf(await flow.refresh(print, refreshToken)).expiresIn).toBe(5)
    clock.advance(5)
    expect(refusalOf(await flow.refresh(print, refreshToken))).toBe('400 invalid_grant')
  })

  test('is no further away after the clock was set back', async () => {
    const { flow, clock } = stage(grantOf(600))
    const { refreshToken } = await flow.tokens(print)
    clock.advance(-24 * hour)
    const { accessToken, expiresIn } = tokensOf(await flow.refresh(print, refreshToken))
    expect(expiresIn).toBe(600)
    clock.advance(600)
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  test('bounds the tokens of a client that acts for itself', async () => {
    const { flow } = stage({ lifetimes: { grant: 60 }, ...clients(nightlyReport) })
    const request = { grant_type: 'client_credentials', scope: 'photos:read' }
    const response = await flow.request(nightlyReport, request)
    expect(tokensOf(response)).toMatchObject({ expiresIn: 60, refreshToken: '' })
  })
})

describe('Servers on one Redis', () => {
  let redis: Redis
  withRedis(({ client }) => void (redis = client))

  function processes() {
    const clock = new Clock()
    const prefix = `lifetimes:${randomUUID()}:`
    const open = (options: Partial<AuthorizationServerOptions>) => {
      const store = redisStore({ client: redis, prefix, clock: clock.read })
      return application({ ...clients(print), store, clock: clock.read, storeDeadline: 10, ...options })
    }
    const ttl = async () => {
      const keys = (await redis.keys(`${prefix}authorization:*`)).filter(Boolean)
      const times = await Promise.all(keys.map((key) => redis.pttl(key)))
      return times
    }
    return { clock, open, ttl }
  }

  test('that get the option later bound live grants at their next refresh', async () => {
    const { clock, open } = processes()
    const [former, next] = [open({}), open({ lifetimes: { grant: 2 * hour } })]
    const { refreshToken } = await former.flow.tokens(print)
    clock.advance(hour + 1800)
    const pair = tokensOf(await next.flow.refresh(print, refreshToken))
    expect(pair.expiresIn).toBe(1800)
  })

  test('with another end refuse a grant that is over for them, and end all of its tokens', async () => {
    const { clock, open, ttl } = processes()
    const [former, next] = [open({}), open({ lifetimes: { grant: hour } })]
    const { refreshToken } = await former.flow.tokens(print)
    clock.advance(hour - 10)
    const { accessToken, refreshToken: second } = tokensOf(await former.flow.refresh(print, refreshToken))
    clock.advance(10)
    expect((await next.flow.introspect(print, second)).body).toEqual({ active: false })
    expect(refusalOf(await next.flow.refresh(print, second))).toBe('400 invalid_grant')
    expect(next.failures.at(-1)).toMatchObject({ reason: 'grant_expired', clientId: 'photo-print' })
    expect((await former.flow.photos(accessToken)).status).toBe(401)
    expect(refusalOf(await former.flow.refresh(print, second))).toBe('400 invalid_grant')
    expect((await ttl()).every((left) => left <= 124_000)).toBe(true)
  })

  test.each([
    ['the end of the grant', { grant: 7200, refreshToken: 86_400 }, 7200],
    ['the end of the refresh token', { grant: 86_400, refreshToken: 7200 }, 7200],
  ])('keep a record until %s if it is nearer', async (_which, lifetimes, seconds) => {
    const { open, ttl } = processes()
    const { flow } = open({ lifetimes })
    const { refreshToken } = await flow.tokens(print)
    await flow.refresh(print, refreshToken)
    const [left = 0] = await ttl()
    expect(left).toBeLessThanOrEqual(seconds * 1000)
    expect(left).toBeGreaterThan((seconds - 120) * 1000)
  })
})

describeOnStores('The lifetimes of a client', (stage) => {
  const brief = bent(print, {
    client_id: 'brief',
    access_token_lifetime: 300,
    refresh_token_lifetime: 900,
    grant_lifetime: 1800,
  })

  test('of a store that are longer than those of the server change nothing', async () => {
    const long = { ...brief.registration, access_token_lifetime: 90_000, refresh_token_lifetime: 9_000_000 }
    const { grant_lifetime: _end, ...endless } = long
    const { flow } = stage({ clients: { find: async () => endless }, refreshTokenExpiresIn: true })
    const { body } = await flow.redeem(brief, await flow.approve(brief))
    expect([body.expires_in, body.refresh_token_expires_in]).toEqual([3600, 2_592_000])
  })
})

describe('A registration with a lifetime that is longer than that of the server', () => {
  test.each(['0', '-1', '1.5', '"600"', '1e12'])('or with one of %s is a mistake', (seconds) => {
    const client = { ...print.registration, ...JSON.parse(`{"access_token_lifetime":${seconds}}`) }
    expect(() => application({ clients: [client] })).toThrow(
      /clients\[0\]\.access_token_lifetime must be whole seconds/,
    )
  })
})

describeRegistration('A client that registers itself', (stage) => {
  test('gets the lifetimes of the server, whatever it names', async () => {
    const staged = stage({}, { refreshTokenExpiresIn: true })
    const named = { access_token_lifetime: 9_000_000, refresh_token_lifetime: 90_000_000, grant_lifetime: 1 }
    const client = await staged.register({ ...notesApp, ...named })
    expect(client.status).toBe(201)
    for (const member of Object.keys(named)) expect(client.body).not.toHaveProperty(member)
    const { body } = await getTokens(staged, client)
    expect(body).toMatchObject({ expires_in: 3600, refresh_token_expires_in: 2_592_000 })
  })
})

describeOnStores('refresh_token_expires_in', (stage) => {
  test('names the nearer of the two ends, and in a repetition the time that remains', async () => {
    const lifetimes = { refreshToken: 1000, grant: 1500 }
    const { flow, clock } = stage({ ...clients(print), lifetimes, refreshTokenExpiresIn: true })
    const first = (await flow.redeem(print, await flow.approve(print))).body
    expect(first.refresh_token_expires_in).toBe(1000)
    clock.advance(900)
    const second = (await flow.refresh(print, first.refresh_token)).body
    expect(second.refresh_token_expires_in).toBe(600)
    clock.advance(20)
    const again = (await flow.refresh(print, first.refresh_token)).body
    expect(again).toMatchObject({ refresh_token: second.refresh_token, refresh_token_expires_in: 580 })
    const narrower = (await flow.refresh(print, first.refresh_token, { scope: 'photos:read' })).body
    expect(narrower).toMatchObject({ refresh_token: second.refresh_token, refresh_token_expires_in: 580 })
    const { exp } = (await flow.introspect(print, second.refresh_token)).body
    expect(exp).toBe(Math.floor(clock.read() / 1000) + 580)
  })
})

const entries = Object.entries(threeResources)
const orders = { 'shortest last': entries, 'shortest first': entries.toReversed() }

describe.each(Object.entries(orders))(
  'Several resources with several lifetimes, named %s',
  (_order, resources) => {
    const open = () =>
      setStage(withResources({ resources: Object.fromEntries(resources) }), { mount: mountResources })
    const ask = async ({ flow }: ReturnType<typeof open>, resource: readonly string[]) =>
      tokensOf(await flow.request(job, { grant_type: 'client_credentials', resource }))

    test('the shortest lifetime counts, and that of the server where a resource has none', async () => {
      const set = open()
      const seconds = async (...asked: readonly string[]) => (await ask(set, asked)).expiresIn
      expect([
        await seconds(photosApi),
        await seconds(printApi),
        await seconds(reportsApi, photosApi),
        await seconds(printApi, photosApi),
        await seconds(photosApi, printApi, reportsApi),
      ]).toEqual([600, 3600, 60, 600, 60])
    })

    test('a token for several ends at each of their guards when the shortest ends', async () => {
      const set = open()
      const { accessToken } = await ask(set, [photosApi, reportsApi])
      const statuses = async () => {
        const Authorization = `Bearer ${accessToken}`
        const paths = ['/api/photos', '/api/reports']
        return Promise.all(
          paths.map(async (path) => (await set.flow.open(path, undefined, { Authorization })).status),
        )
      }
      set.clock.advance(59)
      expect(await statuses()).toEqual([200, 200])
      set.clock.advance(1)
      expect(await statuses()).toEqual([401, 401])
    })
  },
)
