import { FetchedKeys, KeysUnavailable, maximumAge, maximumSize, pause } from '../../lib/jwt/key-source'
import { RefusedJwt, verifyJwt } from '../../lib/jwt/verify-jwt'
import { audience, claimsAt, hub, hubOnCurve, jwt, signer, type Signer } from '../support/assertions/jwt'
import { KeyServer } from '../support/assertions/key-server'
import { noon } from '../support/authorization/issue-context'

let server: KeyServer
let elsewhere: KeyServer
beforeEach(async () => {
  server = new KeyServer()
  elsewhere = new KeyServer()
  await Promise.all([server.start(), elsewhere.start()])
})
afterEach(() => Promise.all([server.stop(), elsewhere.stop()]))

/** Presents tokens of one issuer, whose keys are at the server, so many seconds after noon. */
function desk(uri = server.uri) {
  const terms = {
    issuers: new Map([[hub.issuer, new FetchedKeys(uri)]]),
    audience: [audience],
    clockTolerance: 30,
    algorithms: ['RS256', 'ES256'],
    types: ['jwt'],
  }
  return (by: Signer, later = 0) => {
    const now = noon + later
    return verifyJwt(jwt(by, claimsAt(now)), now, terms)
  }
}

/** The fault of the JWT, or that the keys were not to be had. */
async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(() => undefined).catch((thrown: unknown) => thrown)
  if (error instanceof RefusedJwt) return error.fault
  if (error instanceof KeysUnavailable) return unavailable
  throw new Error(`Not refused, but ${String(error)}.`)
}

const unavailable = 'keys unavailable'
const unknown = 'key_unknown'
const sound = { subject: 'alice@issuer.example' }

describe('A published JWK set', () => {
  test('is fetched at first use, once for many requests at once, and kept', async () => {
    server.publish(hub.jwk)
    const present = desk()
    expect(server.requests).toBe(0)
    expect(await Promise.all(Array.from({ length: 20 }, () => present(hub)))).toHaveLength(20)
    await present(hub, maximumAge - 1)
    expect(server.requests).toBe(1)
  })

  test('is fetched again when a JWT names a key that is new', async () => {
    server.publish(hub.jwk)
    const present = desk()
    await present(hub)
    server.publish(hub.jwk, hubOnCurve.jwk)
    expect(await present(hubOnCurve, pause)).toMatchObject(sound)
    expect(await present(hub, pause)).toMatchObject(sound)
    expect(server.requests).toBe(2)
  })

  test('is the same one as long as its issuer publishes the same keys, in whatever order', async () => {
    const keys = new FetchedKeys(server.uri)
    server.publish(hub.jwk, hubOnCurve.jwk)
    const first = await keys.fetched(noon)
    server.publish({ ...hubOnCurve.jwk, use: 'sig' }, hub.jwk)
    expect(await keys.fetched(noon + pause)).toBe(first)
    expect(keys.trusted(noon + pause)).toBe(first)
    server.publish(hub.jwk)
    expect(await keys.fetched(noon + 2 * pause)).not.toBe(first)
    expect(keys.trusted(noon + 2 * pause)).not.toBe(first)
    expect(keys.trusted(noon + 2 * pause + maximumAge)).toBeUndefined()
    expect(server.requests).toBe(3)
  })

  test('is fetched for an unknown key once within the pause, however many name one [jwt-9]', async () => {
    server.publish(hub.jwk)
    const present = desk()
    await present(hub)
    for (const later of [0, pause - 1])
      expect(await refusalOf(present(hubOnCurve, later))).toEqual(unavailable)
    expect(server.requests).toBe(1)
    const many = Array.from({ length: 20 }, () => refusalOf(present(hubOnCurve, pause)))
    expect(new Set(await Promise.all(many))).toEqual(new Set([unknown]))
    expect(server.requests).toBe(2)
  })

  test('no longer vouches for a key that its issuer took out, after ten minutes', async () => {
    server.publish(hub.jwk)
    const present = desk()
    await present(hub)
    server.publish(hubOnCurve.jwk)
    expect(await present(hub, maximumAge - 1)).toMatchObject(sound)
    expect(await refusalOf(present(hub, maximumAge))).toEqual(unknown)
  })

  test('is asked for what it is: JSON, without anything that says who asks for whom', async () => {
    let accept: string | undefined
    server.say((request, response) => {
      accept = request.headers.accept
      response.end(JSON.stringify({ keys: [hub.jwk] }))
    })
    await desk()(hub)
    expect(accept).toBe('application/jwk-set+json, application/json')
  })

  test('lends no key that is weak, secret, symmetric or broken, and the good ones all the same [jwt-10]', async () => {
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
    const present = desk()
    for (const [index, by] of [weak, lost, forEncryption].entries())
      expect(await refusalOf(present(by, index * pause))).toEqual(unknown)
    expect(await present(hub)).toMatchObject(sound)
  })
})

describe('A JWK set that cannot be fetched refuses no token for good:', () => {
  test.each<[string, (keyServer: KeyServer) => void]>([
    [
      'status 500',
      (keyServer) => keyServer.say((_request, response) => void response.writeHead(500).end('{"keys":[]}')),
    ],
    ['status 404', (keyServer) => keyServer.say((_request, response) => void response.writeHead(404).end())],
    ['nothing', (keyServer) => keyServer.say((_request, response) => void response.end())],
    ['no JSON', (keyServer) => keyServer.say((_request, response) => void response.end('<html>'))],
    ['a list', (keyServer) => keyServer.sayJson([hub.jwk])],
    ['keys that are no list', (keyServer) => keyServer.sayJson({ keys: { 0: hub.jwk } })],
    ['null', (keyServer) => keyServer.sayJson(null)],
    [
      'more than 256 KiB',
      (keyServer) => keyServer.sayJson({ keys: [hub.jwk], more: 'a'.repeat(maximumSize) }),
    ],
    ['a connection that breaks', (keyServer) => keyServer.say((request) => void request.socket.destroy())],
    [
      'a body that breaks off',
      (keyServer) =>
        keyServer.say((request, response) => {
          response.writeHead(200, { 'Content-Length': 1000 }).write('{"keys":[')
          setImmediate(() => request.socket.destroy())
        }),
    ],
    ['silence', (keyServer) => keyServer.say(() => {})],
  ])('%s', async (_, prepare) => {
    prepare(server)
    expect(await refusalOf(desk()(hub))).toEqual(unavailable)
  })

  test('a redirect, even to a good set [jwt-8]', async () => {
    elsewhere.publish(hub.jwk)
    server.say((_request, response) => void response.writeHead(302, { Location: elsewhere.uri }).end())
    expect(await refusalOf(desk()(hub))).toEqual(unavailable)
    expect(elsewhere.requests).toBe(0)
  })

  test('no server at all, and the event has the cause', async () => {
    const gone = new KeyServer()
    await gone.start()
    const { uri } = gone
    await gone.stop()
    const present = desk(uri)
    expect(await refusalOf(present(hub))).toEqual(unavailable)
    await expect(present(hub)).rejects.toHaveProperty('cause.message', 'fetch failed')
  })

  test('is not asked for again within the pause, and then is', async () => {
    server.sayJson('garbage')
    const present = desk()
    for (const later of [0, 0, pause - 1]) expect(await refusalOf(present(hub, later))).toEqual(unavailable)
    expect(server.requests).toBe(1)
    server.publish(hub.jwk)
    expect(await present(hub, pause)).toMatchObject(sound)
  })

  test('leaves the known keys for ten minutes, and answers unavailable for others', async () => {
    server.publish(hub.jwk)
    const present = desk()
    await present(hub)
    server.sayJson('garbage')
    expect(await refusalOf(present(hubOnCurve, pause))).toEqual(unavailable)
    expect(await present(hub, pause)).toMatchObject(sound)
    expect(await present(hub, maximumAge - 1)).toMatchObject(sound)
    expect(await refusalOf(present(hub, maximumAge))).toEqual(unavailable)
  })
})
