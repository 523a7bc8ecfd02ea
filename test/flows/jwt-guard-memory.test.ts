import express from 'express'
import { hub, hubOnCurve } from '../support/assertions/jwt'
import { KeyServer } from '../support/assertions/key-server'
import { Flow } from '../support/flows/flow'
import { accessClaims, accessJwt } from '../support/jwt-guard/access-tokens'
import { guardedPhotos } from '../support/jwt-guard/guarded-photos'
import { waitUntil } from '../support/wait-until'

// A verification is what a guard of many tokens pays for. It is real, and counted.
let verify: jest.SpyInstance
beforeEach(() => (verify = jest.spyOn(crypto.subtle, 'verify')))
afterEach(() => verify.mockRestore())
const verified = () => verify.mock.calls.length

function open(bend: Parameters<typeof guardedPhotos>[0] = {}) {
  const set = guardedPhotos(bend)
  const status = async (token: string) => (await set.ask(token)).status
  const claims = (more: object = {}) => accessClaims(set.now(), { ...more })
  return { ...set, status, claims, token: (more: object = {}) => accessJwt(claims(more), hubOnCurve) }
}
const forged = (token: string, end = 'AAAA') => `${token.slice(0, -4)}${end}`

describe('A token that a guard has verified', () => {
  test('is verified again after 300 seconds or maximumAge, and never later for being used', async () => {
    for (const [maximumAge, seconds] of [
      [undefined, 300],
      [60, 60],
    ] as const) {
      const { status, token, clock } = open(maximumAge === undefined ? {} : { maximumAge })
      const shown = token()
      const before = verified()
      for (const later of [0, seconds / 2, seconds / 2 - 1]) {
        clock.advance(later)
        expect([await status(shown), verified() - before]).toEqual([200, 1])
      }
      clock.advance(1)
      expect([await status(shown), verified() - before]).toEqual([200, 2])
    }
  })

  test.each([0, 5])('ends with its exp, clocks being %d seconds apart [access-8]', async (clockTolerance) => {
    const { status, token, now, clock, failures } = open({ clockTolerance })
    const shown = token({ exp: now() + 100 })
    expect(await status(shown)).toBe(200)
    clock.advance(99 + clockTolerance)
    expect([await status(shown), verified()]).toEqual([200, 1])
    clock.advance(1)
    expect(await status(shown)).toBe(401)
    expect(failures).toMatchObject([{ reason: 'jwt_expired' }])
  })

  test('is one of a number that is bounded: the one not used for longest is verified again [access-13]', async () => {
    const { status, token, clock } = open({ maximumCached: 2 })
    const [first, second, third] = [token(), token(), token()]
    for (const shown of [first, second, first, third]) {
      expect(await status(shown)).toBe(200)
      clock.advance(1)
    }
    expect(verified()).toBe(3)
    for (const shown of [first, third]) expect([await status(shown), verified()]).toEqual([200, 3])
    expect([await status(second), verified()]).toEqual([200, 4])
  })

  test('is verified each time where none are to be remembered', async () => {
    const { status, token } = open({ maximumCached: 0 })
    const shown = token()
    for (let round = 1; round <= 3; round++) expect([await status(shown), verified()]).toEqual([200, round])
  })

  test('is pushed out of memory by nothing that strangers send [access-12]', async () => {
    const { status, token } = open({ maximumCached: 1 })
    const shown = token()
    await status(shown)
    for (const last of 'ABCD') expect(await status(forged(token(), `${last}AAA`))).toBe(401)
    for (const claims of [{ cnf: { jkt: 'x' } }, { aud: 'https://mail.example' }])
      expect(await status(token(claims))).toBe(401)
    const before = verified()
    expect([await status(shown), verified()]).toEqual([200, before])
  })
})

test('A token that comes many times at once is verified once, and a refusal is not remembered [access-14]', async () => {
  const { app, token } = open()
  let arrived = 0
  const host = express().use((_request, _response, next) => {
    arrived += 1
    next()
  }, app)
  const flow = new Flow(host)
  verify.mockRestore()
  const real = crypto.subtle.verify.bind(crypto.subtle)
  verify = jest.spyOn(crypto.subtle, 'verify').mockImplementation(async (...given) => {
    await waitUntil('all have come', async () => arrived === 50)
    return real(...given)
  })
  const all = async (text: string) => {
    arrived = 0
    const asked = Array.from({ length: 50 }, async () => (await flow.photos(text)).status)
    return [new Set(await Promise.all(asked)), verified()]
  }
  expect(await all(token())).toEqual([new Set([200]), 1])
  const wrong = forged(token())
  expect(await all(wrong)).toEqual([new Set([401]), 2])
  expect(await all(wrong)).toEqual([new Set([401]), 3])
})

test.each<[string, string, (set: ReturnType<typeof open>) => string]>([
  ['of an odd form', 'jwt_malformed', ({ token }) => `${token()}.`],
  ['of another type', 'jwt_header_refused', ({ claims }) => accessJwt(claims(), hub, { typ: 'JWT' })],
  [
    'of another algorithm',
    'jwt_algorithm_refused',
    ({ claims }) => accessJwt(claims(), hub, { alg: 'HS256' }),
  ],
  ['of another issuer', 'jwt_issuer_unknown', ({ token }) => token({ iss: 'https://nobody.example' })],
  ['of an unknown key', 'jwt_key_unknown', ({ claims }) => accessJwt(claims(), hub, { kid: 'x' })],
])('A token that is %s costs no verification (%s) [access-15]', async (_, reason, make) => {
  const set = open()
  expect([await set.status(make(set)), verified()]).toEqual([401, 0])
  expect(set.failures).toMatchObject([{ reason }])
})

describe('When the keys', () => {
  const server = new KeyServer()
  beforeAll(() => server.start())
  afterAll(() => server.stop())
  beforeEach(() => {
    server.requests = 0
    server.publish(hubOnCurve.jwk)
  })
  const fetching = () => open({ jwksUri: server.uri, maximumAge: 86_400 })

  test('change while a token is verified by the old ones, it is verified anew the next time [access-11]', async () => {
    const { status, token, clock, claims } = fetching()
    expect(await status(token())).toBe(200)
    const shown = token()
    verify.mockImplementationOnce(async () => {
      server.publish(hub.jwk)
      clock.advance(10)
      expect(await status(accessJwt(claims(), hub))).toBe(200)
      return true
    })
    expect(await status(shown)).toBe(200)
    expect(await status(shown)).toBe(401)
  })

  test('are fetched again and are the same, in whatever order, no token is verified again', async () => {
    server.publish(hub.jwk, hubOnCurve.jwk)
    const { status, token, clock } = fetching()
    const shown = token()
    expect(await status(shown)).toBe(200)
    server.publish({ ...hubOnCurve.jwk, use: 'sig' }, hub.jwk)
    clock.advance(600)
    expect([await status(shown), verified(), server.requests]).toEqual([200, 1, 2])
  })

  test('are not known yet, a stranger has them fetched by a token that names the issuer alone [access-16]', async () => {
    const { status, token } = fetching()
    for (const text of ['x', 'a.b.c', token({ iss: 'https://nobody.example' })])
      expect(await status(text)).toBe(401)
    expect(server.requests).toBe(0)
  })

  test('are too old and cannot be fetched, no token is called invalid, even one that is remembered', async () => {
    const { status, token, clock } = fetching()
    const shown = token()
    expect(await status(shown)).toBe(200)
    server.sayJson('garbage')
    clock.advance(599)
    expect(await status(shown)).toBe(200)
    clock.advance(1)
    expect([await status(shown), await status(token())]).toEqual([503, 503])
  })
})
