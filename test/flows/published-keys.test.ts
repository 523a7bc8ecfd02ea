import { hub, hubOnCurve, signer } from '../support/assertions/jwt'
import { KeyServer } from '../support/assertions/key-server'
import { accessClaims, accessJwt } from '../support/jwt-guard/access-tokens'
import { guardedPhotos } from '../support/jwt-guard/guarded-photos'

const server = new KeyServer()
const elsewhere = new KeyServer()
beforeAll(() => Promise.all([server.start(), elsewhere.start()]))
afterAll(() => Promise.all([server.stop(), elsewhere.stop()]))
beforeEach(() => {
  server.requests = 0
  server.publish(hub.jwk)
})

/** A guard that fetches the keys of its issuer; the status of a token by a key. */
function open(jwksUri = server.uri) {
  const { ask, now, clock, failures } = guardedPhotos({ jwksUri })
  const present = async (by = hub) => (await ask(accessJwt(accessClaims(now()), by))).status
  return { present, clock, failures }
}

describe('The keys of an issuer', () => {
  test('are fetched once for many requests at once, as JSON', async () => {
    const accepts: unknown[] = []
    server.say((request, response) => {
      accepts.push(request.headers.accept)
      response.end(JSON.stringify({ keys: [hub.jwk] }))
    })
    const { present } = open()
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => present())))).toEqual(new Set([200]))
    expect(accepts).toEqual(['application/jwk-set+json, application/json'])
  })

  test('are fetched for an unknown key once in ten seconds, however many name one [jwt-9]', async () => {
    const { present, clock } = open()
    await present()
    expect([await present(hubOnCurve), server.requests]).toEqual([503, 1])
    clock.advance(9)
    expect([await present(hubOnCurve), server.requests]).toEqual([503, 1])
    clock.advance(1)
    const many = await Promise.all(Array.from({ length: 20 }, () => present(hubOnCurve)))
    expect([new Set(many), server.requests]).toEqual([new Set([401]), 2])
    server.publish(hub.jwk, hubOnCurve.jwk)
    clock.advance(10)
    expect([await present(hubOnCurve), await present(), server.requests]).toEqual([200, 200, 3])
  })

  test('verify nothing if they are weak, secret, symmetric or broken, and the good ones do all the same [jwt-10]', async () => {
    const weak = signer(hub.issuer, 'weak', 'RS256', 1024)
    const lost = signer(hub.issuer, 'lost')
    const forEncryption = signer(hub.issuer, 'encryption')
    server.publish(
      weak.jwk,
      { ...lost.privateKey.export({ format: 'jwk' }), kid: 'lost' },
      { kty: 'oct', k: 'AAAA', kid: 'oct' },
      { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', kid: 'off-the-curve' },
      { ...forEncryption.jwk, use: 'enc' },
      { kty: 'unheard-of' },
      hub.jwk,
    )
    const { present, clock } = open()
    for (const by of [weak, lost, forEncryption]) {
      expect(await present(by)).toBe(401)
      clock.advance(10)
    }
    expect(await present()).toBe(200)
  })
})

test.each<[string, () => void]>([
  ['status 500', () => server.say((_request, response) => void response.writeHead(500).end('{"keys":[]}'))],
  ['status 404', () => server.say((_request, response) => void response.writeHead(404).end())],
  ['nothing', () => server.say((_request, response) => void response.end())],
  ['no JSON', () => server.say((_request, response) => void response.end('<html>'))],
  ['a list', () => server.sayJson([hub.jwk])],
  ['keys that are no list', () => server.sayJson({ keys: { 0: hub.jwk } })],
  ['null', () => server.sayJson(null)],
  ['more than 256 KiB', () => server.sayJson({ keys: [hub.jwk], more: 'a'.repeat(256 * 1024) })],
  ['a connection that breaks', () => server.say((request) => void request.socket.destroy())],
  [
    'a body that breaks off',
    () =>
      server.say((request, response) => {
        response.writeHead(200, { 'Content-Length': 1000 }).write('{"keys":[')
        setImmediate(() => request.socket.destroy())
      }),
  ],
  [
    'a redirect to a good set',
    () => server.say((_request, response) => void response.writeHead(302, { Location: elsewhere.uri }).end()),
  ],
])(
  'An issuer with %s has no keys: its tokens get 503, until it is asked again [jwt-8]',
  async (_, prepare) => {
    prepare()
    elsewhere.publish(hub.jwk)
    const { present, clock, failures } = open()
    expect([await present(), await present(), server.requests]).toEqual([503, 503, 1])
    expect(failures[0]).toMatchObject({ reason: 'jwt_keys_unavailable', cause: expect.anything() })
    server.publish(hub.jwk)
    clock.advance(9)
    expect(await present()).toBe(503)
    clock.advance(1)
    expect([await present(), server.requests, elsewhere.requests]).toEqual([200, 2, 0])
  },
)
