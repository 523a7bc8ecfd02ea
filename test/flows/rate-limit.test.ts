import type { RequestHandler } from 'express'
import { Passport } from 'passport'
import request from 'supertest'
import type { AuthorizationServer, Endpoint } from '../../lib/index'
import { dpop } from '../../lib/paths/dpop'
import { application, mountPhotos, type Mount } from '../support/flows/application'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { deviceCode, deviceStage, television } from '../support/flows/device-stage'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest, basic, type Flow, redemption } from '../support/flows/flow'
import { trusting } from '../support/flows/guesses'
import { outcomeOf } from '../support/flows/outcome'
import { Prover } from '../support/flows/prover'
import { codeOf } from '../support/flows/redirection'
import { tokensOf } from '../support/flows/tokens'
import { manyTimes } from '../support/flows/raw-request'

const asked = authorizationRequest(photoBook)
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const two = { attempts: 2, seconds: 60 }
const fail = (flow: Flow, path = '/token', headers = {}) =>
  flow.submit(path, { ...grant, client_id: 'nobody', client_secret: 'wrong' }, undefined, headers)
const succeed = (flow: Flow) => flow.request(nightlyReport, grant)
/** A public client comes, which proves nothing. */
const comeUnproven = (flow: Flow) =>
  flow.request(photoBook, { grant_type: 'refresh_token', refresh_token: 'none' })
const refusal = {
  error: 'temporarily_unavailable',
  error_description: 'Too many requests from this network.',
}

/** A store of a host, which counts all keys as one. */
function storeOf(resetTime: () => Date | undefined) {
  const counted: string[] = []
  return {
    counted,
    increment: async (key: string) => ({ totalHits: counted.push(key), resetTime: resetTime() }),
    decrement: async () => {},
    resetKey: async () => {},
  }
}

/** The endpoints in parts, behind what authenticates the clients. */
const inParts =
  (authenticating: (oauth: AuthorizationServer) => RequestHandler): Mount =>
  (app, oauth) => {
    const client = authenticating(oauth)
    app.all('/authorize', oauth.authorize())
    app.post('/token', client, ...oauth.token())
    app.post('/revoke', client, ...oauth.revocation())
    app.post('/introspect', client, ...oauth.introspection())
    mountPhotos(app, oauth)
  }
const byPassport = (oauth: AuthorizationServer): RequestHandler => {
  const passport = new Passport()
  for (const strategy of oauth.strategies) passport.use(strategy)
  const methods = ['client_secret_basic', 'client_secret_post', 'none']
  return passport.authenticate(methods, { session: false, failWithError: true })
}
const mounts: readonly [string, Mount][] = [
  ['parts', inParts((oauth) => oauth.clientAuthentication())],
  ['a Passport of the host', inParts(byPassport)],
]

describe.each(mounts)('The limit by network, at %s,', (_, mount) => {
  test('counts each authorization request once, refuses on a page, and ends with its time', async () => {
    const clock = new Clock()
    const { flow, failures } = application(
      { clock: clock.read, limits: { networks: { authorization: two } } },
      { mount },
    )
    const page = await flow.ask(asked, 'alice')
    codeOf(await flow.decide(page, 'approve', 'alice'))
    clock.advance(20)
    for (const refused of [await flow.ask(asked, 'alice'), await flow.submit('/authorize', {}, 'alice')]) {
      expect(errorPageOf(refused)).toBe('429 temporarily_unavailable')
      expect(refused.headers['retry-after']).toBe('40')
    }
    expect(failures).toMatchObject([
      { endpoint: 'authorization', reason: 'rate_limited' },
      { endpoint: 'authorization', reason: 'rate_limited' },
    ])
    clock.advance(40)
    expect((await flow.ask(asked, 'alice')).status).toBe(200)
  })

  test('counts each failed request to every endpoint of clients once, and then refuses every one [store-13]', async () => {
    for (const path of ['/token', '/revoke', '/introspect']) {
      const clock = new Clock()
      const { flow, failures } = application(
        { clock: clock.read, limits: { networks: { clients: two } } },
        { mount },
      )
      expect([(await fail(flow, path)).status, (await fail(flow, path)).status]).toEqual([401, 401])
      const refused = await fail(flow, path)
      expect([refused.status, refused.body]).toEqual([429, refusal])
      expect(refused.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        pragma: 'no-cache',
        'retry-after': '60',
      })
      expect(Object.keys(refused.headers).filter((name) => name.includes('ratelimit'))).toEqual([])
      expect((await comeUnproven(flow)).status).toBe(429)
      expect(failures.slice(2)).toMatchObject([{ reason: 'rate_limited' }, { reason: 'rate_limited' }])
      tokensOf(await succeed(flow))
      clock.advance(60)
      expect((await comeUnproven(flow)).status).toBe(400)
    }
  })
})

describe('The limit by network', () => {
  test('of many failures at once, explains no more of them than the limit allows', async () => {
    const { flow } = application({ limits: { networks: { clients: two } } })
    const answers = await Promise.all(Array.from({ length: 6 }, () => fail(flow)))
    const answersOf = (status: number) => answers.filter((answer) => answer.status === status).length
    expect([answersOf(401), answersOf(429)]).toEqual([2, 4])
    expect((await comeUnproven(flow)).status).toBe(429)
  })

  test('counts nothing that succeeds, the endpoints of clients together, and leaves guards and pages alone', async () => {
    const { flow } = application({ limits: { networks: { clients: two, authorization: two } } })
    const { accessToken } = tokensOf(await succeed(flow))
    for (let round = 0; round < 3; round++) tokensOf(await succeed(flow))
    const paths = ['/revoke', '/introspect', '/token']
    const statuses: number[] = []
    for (const path of paths) statuses.push((await fail(flow, path)).status)
    expect(statuses).toEqual([401, 401, 429])
    expect((await flow.photos(accessToken)).status).toBe(200)
    expect((await flow.photos('garbage')).status).toBe(401)
    for (let round = 0; round < 2; round++) expect((await flow.ask(asked, 'alice')).status).toBe(200)
  })

  test('is 600 a minute for each kind of endpoint unless the host says otherwise', async () => {
    const minutes: number[] = []
    const resetTime = new Date(Date.now() + 60_000)
    // The counts begin at 599, as if so many requests had come.
    const stores = () => {
      let totalHits = 599
      return {
        init: ({ windowMs }: { windowMs: number }) => void minutes.push(windowMs / 60_000),
        increment: async () => ({ totalHits: ++totalHits, resetTime }),
        decrement: async () => {},
        resetKey: async () => {},
      }
    }
    const { flow } = application({ limits: { networks: { stores } } })
    expect((await flow.open('/authorize')).status).toBe(400)
    expect((await flow.open('/authorize')).status).toBe(429)
    expect((await flow.submit('/token', {})).status).toBe(401)
    expect((await flow.submit('/token', {})).status).toBe(429)
    expect(minutes).toEqual([1, 1])
  })

  test('is off where the host switches both off, or each', async () => {
    const full = {
      increment: async () => ({ totalHits: 10_000, resetTime: undefined }),
      decrement: async () => {},
      resetKey: async () => {},
    }
    const each = { authorization: false, clients: false, stores: () => full } as const
    const { flow } = application({ limits: { networks: each } })
    expect([(await fail(flow)).status, (await flow.open('/authorize')).status]).toEqual([401, 400])
    const { app } = application({ limits: { networks: false }, clients: [] })
    const asking = { method: 'GET', path: '/authorize', headers: [] }
    expect(new Set(await manyTimes(app, asking, 602))).toEqual(new Set([400]))
  })

  test('knows a network by its address, of IPv6 by 64 bits, behind a trusted proxy', async () => {
    const { flow } = application({ limits: { networks: { clients: two } } }, trusting)
    const from = async (address: string) =>
      (await fail(flow, '/token', { 'X-Forwarded-For': address })).status
    expect([await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.1')]).toEqual([
      401, 401, 429,
    ])
    expect(await from('192.0.2.2')).toBe(401)
    expect(await from('2001:db8:0:1::1')).toBe(401)
    expect(await from('2001:db8:0:1:ffff::2')).toBe(401)
    expect(await from('2001:db8:0:1:5:6:7:8')).toBe(429)
    expect(await from('::ffff:192.0.2.1')).toBe(429)
  })

  test('is not moved by a header of the client where no proxy is trusted', async () => {
    const { flow } = application({ limits: { networks: { clients: two } } })
    for (const address of ['192.0.2.1', '192.0.2.2'])
      expect((await fail(flow, '/token', { 'X-Forwarded-For': address })).status).toBe(401)
    expect((await fail(flow, '/token', { 'X-Forwarded-For': '192.0.2.3' })).status).toBe(429)
  })

  test('counts no failures of the server', async () => {
    let closed = true
    const { flow } = application({ limits: { networks: { clients: two } }, maintenance: () => closed })
    for (let round = 0; round < 5; round++)
      expect((await succeed(flow)).body.error).toBe('temporarily_unavailable')
    closed = false
    tokensOf(await succeed(flow))
  })

  test('counts no other method at the endpoints for clients, and refuses none', async () => {
    const { app, flow } = application({ limits: { networks: { clients: two } } })
    for (const method of ['get', 'head', 'put'] as const)
      expect((await request(app)[method]('/token')).status).toBe(405)
    expect((await comeUnproven(flow)).status).toBe(400)
    await fail(flow)
    expect((await comeUnproven(flow)).status).toBe(429)
    expect((await request(app).get('/token')).status).toBe(405)
  })

  test('at an endpoint with GET counts failures with an Authorization header alone: an image on a web page causes others [store-31]', async () => {
    const own: Endpoint = {
      name: 'own',
      path: '/own',
      method: 'GET',
      handle: async () => ({ members: {} }),
    }
    for (const method of ['get', 'head'] as const) {
      const { app, flow } = application({
        limits: { networks: { clients: two } },
        plugins: [{ name: 'host-endpoints', endpoints: [own] }],
      })
      const come = async (headers = {}) => (await request(app)[method]('/own').set(headers)).status
      for (let round = 0; round < 4; round++) expect(await come()).toBe(401)
      expect((await comeUnproven(flow)).status).toBe(400)
      const guess = { Authorization: basic('nobody', 'wrong') }
      expect([await come(guess), await come(guess)]).toEqual([401, 429])
      // The limit refuses what it does not count, too.
      expect([await come(), (await comeUnproven(flow)).status]).toEqual([429, 429])
    }
  })

  test('in a store of the host’s is one for all processes', async () => {
    const store = storeOf(() => new Date(Date.now() + 60_000))
    const shared = () => application({ limits: { networks: { clients: two, stores: () => store } } }).flow
    const [one, other] = [shared(), shared()]
    tokensOf(await succeed(one))
    const statuses: number[] = []
    for (const flow of [one, other, one, other]) statuses.push((await fail(flow)).status)
    expect(statuses).toEqual([401, 401, 429, 429])
  })

  test('survives a store that never answers: requests pass after the deadline of stores', async () => {
    const silent = {
      increment: () => new Promise<never>(() => {}),
      decrement: async () => {},
      resetKey: async () => {},
    }
    const limit = { attempts: 1 }
    const { flow } = application({
      limits: { networks: { authorization: limit, clients: limit, stores: () => silent } },
      storeDeadline: 0.05,
    })
    expect((await succeed(flow)).status).toBe(200)
    for (let round = 0; round < 2; round++) {
      expect((await comeUnproven(flow)).status).toBe(400)
      expect((await flow.ask(asked, 'alice')).status).toBe(200)
    }
  })
})

describe('The Retry-After of the limit by network', () => {
  const waitOf = async (flow: Flow) => (await fail(flow)).headers['retry-after']
  afterEach(() => jest.restoreAllMocks())

  test('is not moved by a clock of the machine that steps', async () => {
    const now = Date.now
    let stepped = 0
    jest.spyOn(Date, 'now').mockImplementation(() => now() + stepped)
    const { flow } = application({ limits: { networks: { clients: two } } })
    for (let round = 0; round < 2; round++) expect((await fail(flow)).status).toBe(401)
    for (stepped of [3_600_000, -3_600_000]) {
      const wait = Number(await waitOf(flow))
      expect([wait > 0, wait <= 60]).toEqual([true, true])
    }
  })

  test.each(['the memory of the process', 'a store'])(
    'is not made longer by a clock that is set back: counts in %s',
    async (where) => {
      const clock = new Clock()
      const store = storeOf(() => new Date(clock.read() + 60_000))
      const { flow } = application({
        clock: clock.read,
        limits: { networks: { clients: two, ...(where === 'a store' ? { stores: () => store } : {}) } },
      })
      for (let round = 0; round < 2; round++) expect((await fail(flow)).status).toBe(401)
      clock.advance(-3600)
      expect(await waitOf(flow)).toBe('60')
      clock.advance(59)
      expect(await waitOf(flow)).toBe('1')
      clock.advance(1)
      store.counted.length = 0
      expect((await comeUnproven(flow)).status).toBe(400)
    },
  )

  test.each([
    ['what is left by the clock of the server', 20, '20'],
    ['no more than its window, whatever the clock of a store says', 3600, '60'],
    ['a second where a store does not tell', undefined, '1'],
  ])('is %s', async (_, seconds, wait) => {
    const clock = new Clock()
    clock.advance(1_000_000)
    const store = storeOf(() => (seconds === undefined ? undefined : new Date(clock.read() + seconds * 1000)))
    const { flow } = application({
      clock: clock.read,
      limits: { networks: { authorization: two, stores: () => store } },
    })
    for (let round = 0; round < 2; round++) expect((await flow.open('/authorize')).status).toBe(400)
    const refused = await flow.open('/authorize')
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, wait])
  })
})

describe('What the protocol tells an honest client to cause', () => {
  const limits = { networks: { clients: two } }
  const kiosk = bent(photoPrint, {
    client_id: 'kiosk',
    redirect_uris: [],
    response_types: [],
    grant_types: [deviceCode],
  })
  const clients = [television, kiosk, photoBook].map(({ registration }) => registration)
  const pending = '400 authorization_pending'

  test.each([
    ['a public client', television],
    ['a client with a secret', kiosk],
  ])('counts apart, ten times as high, and refuses nothing else: %s', async (_, device) => {
    const { begin, poll, flow } = await deviceStage(device, [], { limits, clients })
    const again = await begin()
    const pollAgain = () => poll(device, { device_code: again.body.device_code })
    for (let round = 0; round < 10; round++) {
      expect(outcomeOf(await poll())).toBe(pending)
      expect(outcomeOf(await pollAgain())).toBe(pending)
    }
    expect(outcomeOf(await poll())).toBe(device === kiosk ? pending : '429 temporarily_unavailable')
    expect((await comeUnproven(flow)).status).toBe(400)
    expect((await begin()).status).toBe(200)
    expect(outcomeOf(await poll(device, { device_code: 'rh_none' }))).toBe('400 invalid_grant')
    expect((await comeUnproven(flow)).status).toBe(429)
  })

  test('is also a denial, an early poll, and the end of a code', async () => {
    const { poll, enter, decide, clock } = await deviceStage(television, [], { limits, clients })
    await poll()
    clock.advance(2)
    for (let round = 0; round < 3; round++) {
      expect(outcomeOf(await poll())).toBe(round === 0 ? '400 slow_down' : pending)
    }
    await decide(await enter(), 'deny')
    for (let round = 0; round < 3; round++) expect(outcomeOf(await poll())).toBe('400 access_denied')
    clock.advance(719)
    for (let round = 0; round < 3; round++) expect(outcomeOf(await poll())).toBe('400 expired_token')
  })

  describe('is the demand of a DPoP nonce', () => {
    const open = () => {
      const clock = new Clock()
      const { flow } = application({
        clock: clock.read,
        limits,
        plugins: [dpop({ baseUrl: 'http://localhost', nonces: {} })],
      })
      const prover = new Prover(clock.read)
      const ask = async (client: typeof photoBook, fields: object) => {
        const DPoP = prover.proof('POST', '/token')
        const { client_id } = client.registration
        return outcomeOf(await flow.submit('/token', { client_id, ...fields }, undefined, { DPoP }))
      }
      return { flow, ask }
    }

    test('for a good grant of a public client', async () => {
      const { flow, ask } = open()
      const code = await flow.approve(photoBook)
      for (let round = 0; round < 5; round++)
        expect(await ask(photoBook, redemption(photoBook, code))).toBe('400 use_dpop_nonce')
      const { refreshToken } = tokensOf(await flow.redeem(photoBook, code))
      for (let round = 0; round < 5; round++)
        expect(await ask(photoBook, { grant_type: 'refresh_token', refresh_token: refreshToken })).toBe(
          '400 use_dpop_nonce',
        )
      expect((await comeUnproven(flow)).status).toBe(400)
    })

    test('and not for its name alone', async () => {
      const { ask } = open()
      for (const outcome of ['400 use_dpop_nonce', '400 use_dpop_nonce', '429 temporarily_unavailable'])
        expect(await ask(photoBook, { grant_type: 'refresh_token', refresh_token: 'none' })).toBe(outcome)
    })
  })
})
