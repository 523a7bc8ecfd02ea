import express from 'express'
import supertest from 'supertest'
import { networkLimits } from '../../lib/http/network-limits'
import { RequestContexts } from '../../lib/http/request-context'
import { NetworkWindows } from '../../lib/limits/network-windows'
import { Throttled } from '../../lib/protocol/oauth-error'
import { application } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { warningsOf } from '../support/rooms/warnings'

const two = { attempts: 2, seconds: 60 }

/** Requests come from these addresses. Resolves to the wait that a refusal names, or to undefined if the request passes. */
function counting(name: 'authorization' | 'registration', maximum?: number) {
  const clock = new Clock()
  const windows = new NetworkWindows(clock.read, 60_000, maximum)
  const increment = jest.spyOn(windows, 'increment')
  const rateLimit = { authorization: two, registration: two, clients: undefined, stores: () => windows }
  const settings = { rateLimit, clock: clock.read, storeDeadline: 60, dynamicRegistration: {} }
  const limit = networkLimits(settings, new RequestContexts())[name]
  const of = async (ip: string): Promise<number | undefined> => {
    try {
      await Reflect.apply(limit ?? Object, undefined, [{ ip, headers: {}, app: express() }, {}])
      return undefined
    } catch (error) {
      if (error instanceof Throttled) return error.retryAfter
      throw error
    }
  }
  const ofAll = async (ips: readonly string[]) => {
    const waits = []
    for (const ip of ips) waits.push(await of(ip))
    return waits
  }
  return { clock, increment, of, ofAll }
}

const isRefusal = (wait: number | undefined) => wait !== undefined
const some = <Value>(length: number, at: (index: number) => Value) =>
  Array.from({ length }, (_, index) => at(index))

describe('The limit on authorization requests', () => {
  it('counts each network for itself, until its time is over', async () => {
    const { clock, of } = counting('authorization')
    expect(await of('192.0.2.1')).toBeUndefined()
    clock.advance(30)
    expect(await of('192.0.2.1')).toBeUndefined()
    expect(await of('192.0.2.1')).toBe(30)
    expect(await of('192.0.2.2')).toBeUndefined()
    clock.advance(30)
    expect(await of('192.0.2.1')).toBeUndefined()
    expect(await of('192.0.2.2')).toBeUndefined()
    expect(await of('192.0.2.2')).toBe(30)
  })

  it('lets as many as the limit through when all come at once', async () => {
    const { of } = counting('authorization')
    const waits = await Promise.all(some(4, () => of('192.0.2.1')))
    expect(waits).toEqual([undefined, undefined, 60, 60])
  })

  it('takes 64 bits of IPv6 for one network', async () => {
    const { of, ofAll } = counting('authorization')
    await ofAll(['2001:db8::1', '2001:db8::2'])
    expect(await of('2001:db8::3')).toBe(60)
    expect(await of('2001:db8:0:1::1')).toBeUndefined()
  })

  it('counts a network without room with its provider, at 256 times the limit, until there is room again [store-35]', async () => {
    const { clock, of, ofAll } = counting('authorization', 1)
    await of('2001:db8::1')
    const waits = await ofAll(some(513, (at) => `2001:db8:0:${(at + 1).toString(16)}::1`))
    expect(waits.findIndex(isRefusal)).toBe(512)
    expect(waits[512]).toBe(60)
    expect(await of('2001:db8::2')).toBeUndefined()
    clock.advance(60)
    expect(await of('2001:db8:0:2::1')).toBeUndefined()
  })
})

describe('The limit on registrations', () => {
  const address = (subscriber: number, network: number) =>
    `2001:db8:${subscriber.toString(16)}:${network.toString(16)}::1`

  it.each([
    ['2 from each /64', some(3, () => address(0, 0)), 1],
    ['8 from the networks of one /56', some(10, (at) => address(0, at)), 2],
    ['32 from the networks of one /48', some(40, (at) => address(0, at * 256)), 8],
    ['2 from each IPv4 address', some(3, () => '192.0.2.1'), 1],
    ['as many from each of several /48', some(40, (at) => address(at, 0)), 0],
  ])('admits %s [store-18]', async (_, addresses, refused) => {
    const waits = await counting('registration').ofAll(addresses)
    expect(waits.filter(isRefusal)).toHaveLength(refused)
    expect(waits.slice(0, -refused || undefined).some(isRefusal)).toBe(false)
  })

  it('takes the refusals of a network back from the wider ones: others of its subscriber still have their room', async () => {
    const { of, ofAll } = counting('registration')
    await ofAll(some(100, () => address(0, 0)))
    expect(await of(address(0, 1))).toBeUndefined()
    expect(await of(address(0, 256))).toBeUndefined()
  })

  it('makes no new counts for the networks of a subscriber over its limit', async () => {
    const room = 1 + 8 + 32
    const honest = some(32, (at) => address(0, Math.floor(at / 4) * 256 + (at % 4)))
    const { ofAll } = counting('registration', room)
    await ofAll(honest)
    expect((await ofAll(some(1000, (at) => address(0, at)))).every(isRefusal)).toBe(true)
    const full = counting('registration', room - 1)
    await full.ofAll(honest)
    expect(await full.of(address(1, 0))).toBeUndefined()
  })

  it('counts a subscriber without room with its provider', async () => {
    const { of, ofAll } = counting('registration', 1)
    await of('192.0.2.1')
    const waits = await ofAll(some(600, (at) => address(at, 0)))
    expect(waits.findIndex(isRefusal)).toBe(512)
  })

  it('counts an IPv4 address once', async () => {
    const { increment, of } = counting('registration')
    await of('192.0.2.1')
    expect(increment.mock.calls).toEqual([['192.0.2.1']])
  })

  it('asks a store that fails once for each request', async () => {
    const { increment, of } = counting('registration')
    increment.mockImplementation(() => {
      throw new Error('down')
    })
    expect(await of(address(0, 0))).toBeUndefined()
    expect(increment).toHaveBeenCalledTimes(1)
  })
})

test('A request that goes through several middlewares counts once', async () => {
  let asked = 0
  const { app } = application(
    {
      limits: { networks: { authorization: { attempts: 1, seconds: 60 } } },
      resourceOwner: () => {
        asked += 1
        throw new Error('The session is lost.')
      },
    },
    {
      mount: (host, oauth) => {
        host.use(oauth.router())
        const goOn: express.ErrorRequestHandler = (_error, _request, _response, next) => next()
        host.use(goOn)
        host.all('/authorize', oauth.authorize())
      },
    },
  )
  const come = () =>
    supertest(app).post('/authorize').type('form').send('authorization_request=a&decision=deny')
  expect((await come()).status).toBe(500)
  expect(asked).toBe(2)
  expect((await come()).status).toBe(429)
  expect(asked).toBe(2)
})

test('The count of a middleware of the host stays on the request', async () => {
  const kept: unknown[] = []
  const count = { limit: 5, used: 1 }
  const { app } = application(
    {},
    {
      mount: (host, oauth) => {
        host.use((incoming, response, next) => {
          Object.assign(incoming, { rateLimit: count })
          response.on('finish', () => kept.push(Reflect.get(incoming, 'rateLimit')))
          next()
        }, oauth.router())
      },
    },
  )
  await supertest(app).get('/authorize')
  expect(kept).toEqual([count])
})

test('express-rate-limit is loaded at the first authorization request that is limited', () => {
  const program = `
    const isLoaded = () => Object.keys(require.cache).some((file) => file.includes('/express-rate-limit/'))
    const ask = async (networks, paths) => {
      const app = express()
      app.use(createAuthorizationServer({ ...options, limits: { networks } }).router())
      await serve(app, async (url) => { for (const [method, path] of paths) await fetch(url + path, { method }) })
    }
    await ask(false, [['GET', '/authorize']])
    await ask({}, [['POST', '/token']])
    if (isLoaded()) throw new Error('early')
    await ask({}, [['GET', '/authorize']])
    if (!isLoaded()) throw new Error('never')`
  expect(warningsOf(program)).toEqual([])
})

const given = (
  setUp: string,
  request = "fetch(url + '/token', { method: 'POST', headers: { 'X-Forwarded-For': '192.0.2.1' } })",
) =>
  warningsOf(`
    const app = express()
    const networks = {}
    ${setUp}
    app.use(createAuthorizationServer({ ...options, limits: { networks } }).router())
    await serve(app, async (url) => { for (let i = 0; i < 3; i++) await ${request} })
  `).map(({ code, message }) => `${code} ${message}`)

describe('EAS_TRUST_PROXY', () => {
  it('is given once when a proxy speaks that is not trusted', () => {
    expect(given('')).toEqual([
      expect.stringMatching(/^EAS_TRUST_PROXY A request has the header X-Forwarded-For/),
    ])
  })

  it('is given once when every proxy is trusted', () => {
    expect(given("app.set('trust proxy', true)")).toEqual([
      expect.stringMatching(/^EAS_TRUST_PROXY Express trusts every proxy/),
    ])
  })

  it.each(['1', "'loopback'", '() => false'])('is not given when trust proxy is %s', (trust) => {
    expect(given(`app.set('trust proxy', ${trust})`)).toEqual([])
  })

  it('is not given when there is neither a proxy nor a limit', () => {
    expect(given('', "fetch(url + '/token', { method: 'POST' })")).toEqual([])
    expect(given('networks.clients = false')).toEqual([])
  })
})

describe('EAS_RATE_LIMIT_STORE', () => {
  it('is given once, with its cause, and nothing else is written', () => {
    const store = `{
      increment: async () => { throw new Error('no route') }, decrement: async () => {}, resetKey: async () => {}
    }`
    const request =
      "fetch(url + '/token', { method: 'POST' }).then(({ status }) => { if (status !== 401) throw new Error('refused') })"
    expect(
      given(
        `networks.stores = () => (${store}); console.error = console.warn = () => process.exit(3)`,
        request,
      ),
    ).toEqual([
      'EAS_RATE_LIMIT_STORE The option limits.networks cannot count, so requests pass uncounted: no route',
    ])
  })
})
