import { countInStore } from '../../lib/http/network-limit'
import { BoundedWindows } from '../../lib/rate-limit/bounded-windows'
import { Clock } from '../support/flows/clock'
import { warningsOf } from '../support/rooms/warnings'

function counting(maximum?: number) {
  const clock = new Clock()
  const windows = new BoundedWindows(clock.read, 60_000, maximum)
  const count = countInStore({ attempts: 2, seconds: 60 }, windows)
  return { clock, of: (ip: string | undefined) => Reflect.apply(count, undefined, [{ ip }, {}]) }
}

describe('countInStore, in memory,', () => {
  it('counts each network for itself, until its time is over', async () => {
    const { clock, of } = counting()
    const endsAt = clock.read() + 60_000
    expect(await of('192.0.2.1')).toEqual({ network: '192.0.2.1', isOver: false, remaining: 1, endsAt })
    clock.advance(30)
    expect(await of('192.0.2.1')).toMatchObject({ isOver: false, remaining: 0, endsAt })
    expect(await of('192.0.2.1')).toMatchObject({ isOver: true, remaining: 0, endsAt })
    expect(await of('192.0.2.2')).toMatchObject({ isOver: false, remaining: 1 })
    clock.advance(30)
    expect(await of('192.0.2.1')).toMatchObject({ isOver: false, remaining: 1 })
    expect(await of('192.0.2.2')).toMatchObject({ isOver: false, remaining: 0 })
  })

  it('lets as many as the limit through when all come at once', async () => {
    const { of } = counting()
    const standings = await Promise.all(Array.from({ length: 4 }, () => of('192.0.2.1')))
    expect(standings.map(({ isOver }) => isOver)).toEqual([false, false, true, true])
  })

  it('takes 64 bits of IPv6 for one network', async () => {
    const { of } = counting()
    await of('2001:db8::1')
    expect(await of('2001:db8::2')).toMatchObject({ remaining: 0 })
    expect(await of('2001:db8:0:1::1')).toMatchObject({ remaining: 1 })
  })

  it('lets a network without room pass uncounted, with a warning, and has room again', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    const { clock, of } = counting(1)
    await of('192.0.2.1')
    for (let again = 0; again < 3; again++) expect(await of('192.0.2.2')).toBeUndefined()
    expect(await of('192.0.2.1')).toMatchObject({ remaining: 0 })
    expect(warned.mock.calls.map(([message]) => message)).toEqual([
      'The option rateLimit cannot count, so requests pass uncounted: The counts of requests in memory are full.',
    ])
    warned.mockRestore()
    clock.advance(60)
    expect(await of('192.0.2.2')).toMatchObject({ remaining: 1 })
  })
})

test('express-rate-limit is loaded at the first request that is counted', () => {
  const program = `
    const isLoaded = () => Object.keys(require.cache).some((file) => file.includes('/express-rate-limit/'))
    const app = express()
    app.use(createAuthorizationServer(options).router())
    await serve(app, async (url) => {
      await fetch(url + '/token')
      if (isLoaded()) throw new Error('early')
      await fetch(url + '/token', { method: 'POST' })
      if (!isLoaded()) throw new Error('never')
    })`
  expect(warningsOf(program)).toEqual([])
})

const given = (
  setUp: string,
  request = "fetch(url + '/token', { method: 'POST', headers: { 'X-Forwarded-For': '192.0.2.1' } })",
) =>
  warningsOf(`
    const app = express()
    const rateLimit = {}
    ${setUp}
    app.use(createAuthorizationServer({ ...options, rateLimit }).router())
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
    expect(given('rateLimit.clients = false')).toEqual([])
  })
})

describe('EAS_RATE_LIMIT_STORE', () => {
  it('is given once, with its cause, and nothing else is written', () => {
    const store = `{
      increment: async () => { throw new Error('no route') }, decrement: async () => {}, resetKey: async () => {}
    }`
    const request =
      "fetch(url + '/token', { method: 'POST' }).then(({ status }) => { if (status !== 400) throw new Error('refused') })"
    expect(
      given(
        `rateLimit.stores = () => (${store}); console.error = console.warn = () => process.exit(3)`,
        request,
      ),
    ).toEqual([
      'EAS_RATE_LIMIT_STORE The option rateLimit cannot count, so requests pass uncounted: no route',
    ])
  })
})
