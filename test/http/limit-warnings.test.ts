import { warningsOf } from '../support/rooms/warnings'

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
      expect.stringMatching(/^EAS_TRUST_PROXY Express is set to trust every proxy/),
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
