import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { type AllowedOrigins, crossOrigin, readCors, type Sharing } from '../../lib/http/cors'
import { OptionsReader } from '../../lib/primitives/options-reader'

const app = 'https://app.example'
const other = 'https://other.example'
const onlyApp: AllowedOrigins = new Set([app])
const form: Sharing = { methods: 'POST', isCacheable: false }
const exposed = 'WWW-Authenticate, Retry-After, X-Request-Id'

interface Asked {
  readonly method?: string
  readonly origin?: string
  readonly headers?: Readonly<Record<string, string>>
}

const preflight = (origin: string): Asked => ({
  method: 'OPTIONS',
  origin,
  headers: { 'access-control-request-method': 'POST' },
})

/** What a response has after the headers that the host set, and whether the request was answered. */
function shared(
  origins: AllowedOrigins,
  { method = 'POST', origin, headers = {} }: Asked,
  byHost: Readonly<Record<string, string | readonly string[]>> = {},
  sharing = form,
) {
  const request = new IncomingMessage(new Socket())
  request.method = method
  Object.assign(request.headers, headers, origin === undefined ? {} : { origin })
  const response = new ServerResponse(request)
  for (const [name, value] of Object.entries(byHost)) response.setHeader(name, value)
  const isAnswered = crossOrigin(origins, sharing)?.(request, response)
  return { isAnswered, status: response.statusCode, headers: { ...response.getHeaders() } }
}

describe('readCors', () => {
  const read = (options: object, fallback?: AllowedOrigins) => {
    const reading = new OptionsReader(options, '')
    const origins = readCors(reading, fallback)
    reading.refuseUnknown()
    return { origins, issues: reading.issues }
  }

  it.each([
    [{}, '*' as const, '*'],
    [{}, undefined, undefined],
    [{ cors: undefined }, '*' as const, '*'],
    [{ cors: true }, undefined, '*'],
    [{ cors: false }, '*' as const, undefined],
    [{ cors: { origins: [app, other] } }, '*' as const, new Set([app, other])],
  ])('makes %j of it, by default %j', (options, fallback, expected) => {
    expect(read(options, fallback)).toEqual({ origins: expected, issues: [] })
  })

  it.each([
    'https://app.example:8443',
    'http://localhost:5173',
    'http://[::1]:5173',
    'https://xn--bcher-kva.example',
    'capacitor://localhost',
    'chrome-extension://abcdefghijklmnop',
  ])('takes the origin %s', (origin) => {
    expect(read({ cors: { origins: [origin] } })).toEqual({ origins: new Set([origin]), issues: [] })
  })

  it.each([
    '*',
    'null',
    'app.example',
    'https://app.example/',
    'https://app.example/path',
    'https://app.example:443',
    'https://APP.example',
    'https://bücher.example',
    'https://*.example',
    'https://alice@app.example',
    'https://app.example?x',
    'https://',
    'file://',
    'https://app.example, https://other.example',
  ])('refuses %j, which no browser sends as an origin that is one page’s own', (origin) => {
    expect(read({ cors: { origins: [app, origin] } }).issues).toEqual([
      { path: 'cors.origins[1]', message: expect.stringMatching(/^must be an origin as a browser sends it/) },
    ])
  })

  it.each([[undefined], [null], [[]], [app], [[7]], [['']]])('refuses the list %j', (origins) => {
    expect(read({ cors: { origins } }).issues).toEqual([
      { path: 'cors.origins', message: expect.stringContaining('must be a list of origins, at least one.') },
    ])
  })

  it('refuses names that it does not know, such as credentials', () => {
    expect(read({ cors: { origins: [app], credentials: true } }).issues.map(({ path }) => path)).toEqual([
      'cors.credentials',
    ])
  })
})

describe('crossOrigin', () => {
  it('is nothing where CORS is off', () => {
    expect(crossOrigin(undefined, form)).toBeUndefined()
  })

  it('shares a response with every origin, without credentials and without Vary', () => {
    expect(shared('*', { origin: app })).toEqual({
      isAnswered: false,
      status: 200,
      headers: { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed },
    })
  })

  it('adds nothing to the response for a client that is no browser', () => {
    expect(shared('*', {}).headers).toEqual({})
  })

  it('does not wait for an Origin where a cache may keep the response', () => {
    expect(shared('*', {}, {}, { ...form, isCacheable: true }).headers).toMatchObject({
      'access-control-allow-origin': '*',
    })
  })

  it.each([
    [app, { 'access-control-allow-origin': app, 'access-control-expose-headers': exposed }],
    [other, {}],
    [undefined, {}],
    [`${app}, ${other}`, {}],
    ['null', {}],
    ['__proto__', {}],
  ])('with a list, names only an origin of the list, and always says Vary: %s', (origin, expected) => {
    const asked = origin === undefined ? {} : { origin }
    expect(shared(onlyApp, asked).headers).toEqual({ vary: 'Origin', ...expected })
  })

  it('answers a preflight', () => {
    expect(shared('*', preflight(app))).toEqual({
      isAnswered: true,
      status: 204,
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'Authorization, Content-Type, *',
        'access-control-max-age': '7200',
      },
    })
  })

  it('answers the preflight of an origin that the list lacks without leave', () => {
    expect(shared(onlyApp, preflight(other))).toEqual({
      isAnswered: true,
      status: 204,
      headers: { vary: 'Origin' },
    })
  })

  it.each([
    ['OPTIONS without both headers', { method: 'OPTIONS' }],
    ['OPTIONS without a method', { method: 'OPTIONS', origin: app }],
    [
      'OPTIONS without an origin',
      { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } },
    ],
    ['POST with both headers', { ...preflight(app), method: 'POST' }],
  ])('does not take %s for a preflight', (_what, asked) => {
    expect(shared('*', asked).isAnswered).toBe(false)
    expect(shared(onlyApp, asked).isAnswered).toBe(false)
  })

  it('keeps what the host has set, and adds only what is missing', () => {
    const byHost = {
      'Access-Control-Allow-Origin': other,
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Expose-Headers': 'X-Total, retry-after',
      Vary: ['Accept-Encoding', 'Origin'],
    }
    expect(shared('*', { origin: app }, byHost).headers).toEqual({
      'access-control-allow-origin': other,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'X-Total, retry-after, WWW-Authenticate, X-Request-Id',
      vary: ['Accept-Encoding', 'Origin'],
    })
    expect(shared(onlyApp, { origin: app }, { Vary: ['Accept', 'Accept-Encoding'] }).headers).toMatchObject({
      'access-control-allow-origin': app,
      vary: 'Accept, Accept-Encoding, Origin',
    })
    expect(shared(onlyApp, { origin: app }, { Vary: '*' }).headers).toMatchObject({ vary: '*' })
  })

  it('keeps the refusal of a host that says Vary: Origin and allows no origin', () => {
    expect(shared('*', { origin: app }, { Vary: 'Origin' }).headers).toEqual({ vary: 'Origin' })
    expect(shared('*', preflight(app), { Vary: 'accept, ORIGIN' }).headers).toEqual({
      vary: 'accept, ORIGIN',
    })
  })

  it('keeps the answer of the host to a preflight that the host lets through', () => {
    const byHost = {
      'Access-Control-Allow-Origin': app,
      'Access-Control-Allow-Headers': 'X-One',
      'Access-Control-Allow-Methods': 'PUT',
      'Access-Control-Max-Age': '5',
    }
    const lowerCased = Object.entries(byHost).map(([name, value]) => [name.toLowerCase(), value])
    expect(shared('*', preflight(app), byHost).headers).toEqual(Object.fromEntries(lowerCased))
  })

  it('writes the headers once where two parts share one response', () => {
    const share = crossOrigin(onlyApp, form)
    const request = new IncomingMessage(new Socket())
    Object.assign(request, { method: 'POST', headers: { origin: app } })
    const response = new ServerResponse(request)
    share?.(request, response)
    share?.(request, response)
    expect({ ...response.getHeaders() }).toEqual({
      vary: 'Origin',
      'access-control-allow-origin': app,
      'access-control-expose-headers': exposed,
    })
  })
})
