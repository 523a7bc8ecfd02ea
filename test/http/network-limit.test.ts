import { countInMemory } from '../../lib/http/network-limit'
import { Clock } from '../support/flows/clock'
import { warningsOf } from '../support/rooms/warnings'

function counting(attempts = 2) {
  const clock = new Clock()
  const count = countInMemory({ attempts, seconds: 60 }, clock.read)
  return { clock, of: (ip: string | undefined) => Reflect.apply(count, undefined, [{ ip }, {}]) }
}

describe('countInMemory', () => {
  it('counts each network for itself, until its time is over', () => {
    const { clock, of } = counting()
    const endsAt = clock.read() + 60_000
    expect(of('192.0.2.1')).toEqual({ network: '192.0.2.1', isOver: false, remaining: 1, endsAt })
    clock.advance(30)
    expect(of('192.0.2.1')).toMatchObject({ isOver: false, remaining: 0, endsAt })
    expect(of('192.0.2.1')).toMatchObject({ isOver: true, remaining: 0, endsAt })
    expect(of('192.0.2.2')).toMatchObject({ isOver: false, remaining: 1 })
    clock.advance(30)
    expect(of('192.0.2.1')).toMatchObject({ isOver: false, remaining: 1 })
    expect(of('192.0.2.2')).toMatchObject({ isOver: false, remaining: 0 })
  })

  it('takes 64 bits of IPv6 for one network', () => {
    const { of } = counting()
    of('2001:db8::1')
    expect(of('2001:db8::2')).toMatchObject({ remaining: 0 })
    expect(of('2001:db8:0:1::1')).toMatchObject({ remaining: 1 })
  })

  it('has room for a hundred thousand, lets one more pass uncounted, and has room again', () => {
    const { clock, of } = counting()
    for (let network = 0; network < 100_000; network++)
      of(`10.${network >> 16}.${(network >> 8) & 255}.${network & 255}`)
    expect(of('192.0.2.1')).toBeUndefined()
    expect(of('10.0.0.7')).toMatchObject({ remaining: 0 })
    clock.advance(60)
    expect(of('192.0.2.1')).toMatchObject({ remaining: 1 })
  })
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
      'EAS_RATE_LIMIT_STORE The counts of the option rateLimit cannot be reached, so requests pass uncounted: no route',
    ])
  })
})
