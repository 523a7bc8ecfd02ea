import { randomBytes } from 'node:crypto'
import { memoryStore, type AuthorizationServerOptions, type Store, type StoredValue } from '../../lib/index'
import { manageSigningKeys, signingKeys, type SigningKeys } from '../../lib/paths/jwt'
import { application, canonicalOptions } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { keySecret, withJwts } from '../support/flows/jwt-tokens'
import { mountResources } from '../support/flows/resources'
import { hub, hubOnCurve, signer } from '../support/assertions/jwt'
import { KeyServer } from '../support/assertions/key-server'
import { accessClaims, accessJwt } from '../support/jwt-guard/access-tokens'
import { but } from '../support/stores/but'
import { guardedPhotos } from '../support/jwt-guard/guarded-photos'

const { issuer } = canonicalOptions
const day = 24 * 3600
/** Seconds for which a new key is published before it signs. */
const lead = 900
const another = randomBytes(32).toString('base64')
type KeyOptions = Omit<Extract<Parameters<typeof signingKeys>[0], { secrets: unknown }>, 'keys'>

/** The keys of an issuer in a store whose texts the test reads and writes, and a time of their own. */
function stage() {
  const clock = new Clock()
  const texts = new Map<string, StoredValue>()
  const inner = memoryStore({ clock: clock.read })
  const isOfKeys = (key: string) => key.startsWith('keys:')
  const read: Store['read'] = async (key) => (isOfKeys(key) ? texts.get(key) : inner.read(key))
  const write: Store['write'] = async (key, value, terms) => {
    if (!isOfKeys(key)) return inner.write(key, value, terms)
    const { version, expected } = terms
    const stored = texts.get(key)?.version
    if (stored !== expected && stored !== version) return false
    texts.set(key, { value, version })
    return true
  }
  const store = but(inner, { read, write })
  /** A process, and the keys that it publishes, in order. */
  const open = (
    options: Partial<KeyOptions> = {},
    bend: Partial<AuthorizationServerOptions> = {},
    ownClock = clock,
  ) => {
    const shared: SigningKeys = signingKeys({ secrets: [keySecret], ...options })
    const algorithm = options.algorithms?.[0]
    const jwts = withJwts({ store, clock: ownClock.read, ...bend }, algorithm ? { algorithm } : {}, shared)
    const { flow, oauth } = application(jwts, { mount: mountResources })
    const published = async (): Promise<readonly string[]> => {
      // A process reads the store again after ten seconds.
      ownClock.advance(10)
      const { status, body } = await flow.open('/.well-known/jwks.json')
      return status === 200 ? body.keys.map(({ kid }: { kid: string }) => kid).toSorted() : [String(status)]
    }
    return { published, oauth }
  }
  const manage = (secrets: readonly string[] = [keySecret], ownClock = clock) =>
    manageSigningKeys({ issuer, store, secrets, clock: ownClock.read })
  const signerNow = async (secrets?: readonly string[]) =>
    (await manage(secrets).list()).find(({ signs }) => signs)?.kid ?? 'none'
  const now = () => Math.floor(clock.read() / 1000)
  return { clock, texts, store, open, manage, signerNow, now }
}

test('The first key signs at once, and every process that begins finds the same one', async () => {
  const { open, signerNow } = stage()
  const processes = Array.from({ length: 8 }, () => open())
  const seen = await Promise.all(processes.map(({ published }) => published()))
  expect(new Set(seen.map((kids) => kids.join())).size).toBe(1)
  expect(seen[0]).toEqual([await signerNow()])
})

test('A successor comes when rotateAfter is over, and signs after a quarter of an hour', async () => {
  const { open, signerNow, clock } = stage()
  const { published } = open({ rotateAfter: day })
  const [first] = await published()
  clock.advance(day - 30)
  expect(await published()).toEqual([first])
  clock.advance(20)
  expect(await published()).toHaveLength(2)
  clock.advance(lead - 10)
  expect(await signerNow()).toBe(first)
  clock.advance(10)
  expect(await signerNow()).not.toBe(first)
})

test('A rotation by hand makes a successor for each algorithm, once, of many at a time too', async () => {
  const { open, manage } = stage()
  await open({ algorithms: ['ES256', 'EdDSA'] }).published()
  await Promise.all(Array.from({ length: 16 }, () => manage().rotate()))
  expect(await manage().rotate()).toHaveLength(4)
})

test('A key lives as long as the longest token that any process signed with it', async () => {
  const { open, clock, manage } = stage()
  const [first] = await open().published()
  await open({}, { lifetimes: { accessToken: 2 * day } }).published()
  await manage().rotate()
  const short = open()
  clock.advance(lead + 2 * day)
  expect(await short.published()).toContain(first)
  clock.advance(300)
  expect(await short.published()).not.toContain(first)
})

test('A rotation whose reply is lost succeeds, and one that loses to others every time is refused', async () => {
  const { open, store } = stage()
  await open().published()
  const over = (write: Store['write']) =>
    manageSigningKeys({ issuer, store: but(store, { write }), secrets: [keySecret] })
  let hasLost = false
  const losing = over(async (...words) => {
    const isWritten = await store.write(...words)
    if (hasLost) return isWritten
    hasLost = true
    throw new Error('The reply is lost.')
  })
  await expect(over(async () => false).rotate()).rejects.toMatchObject({ reason: 'record_contended' })
  expect([await losing.rotate(), hasLost]).toMatchObject([{ length: 2 }, true])
})

test('A retired key is gone for every process, its successor signs at once, and no other can be retired', async () => {
  const { open, manage, signerNow, now } = stage()
  const [one, other] = [open(), open()]
  const [leaked = ''] = await one.published()
  await other.published()
  const after = await manage().retire(leaked)
  expect(after).toMatchObject([{ signs: true, signsFrom: now() }])
  expect(await other.published()).toEqual([await signerNow()])
  await expect(manage().retire('unknown')).rejects.toMatchObject({ issues: [{ path: 'kid' }] })
})

test('What the store has lost, a process that holds it publishes again', async () => {
  const { open, clock, texts } = stage()
  const { published } = open({ rotateAfter: day })
  const first = await published()
  const before = new Map(texts)
  texts.clear()
  expect(await published()).toEqual(first)
  expect(await open().published()).toEqual(first)
  // A master that forgot the latest key gets it back.
  clock.advance(day)
  const during = await published()
  expect(during).toHaveLength(2)
  for (const [name, text] of before) texts.set(name, text)
  expect(await published()).toEqual(during)
  expect(await open().published()).toEqual(during)
})

test.each<[string, string]>([
  ['no JSON', 'rubbish'],
  ['another form', '{"keys":{}}'],
  [
    'an unknown algorithm',
    '{"keys":[{"kid":"a","algorithm":"none","sealed":"x","createdAt":1,"signsFrom":1,"longest":1}]}',
  ],
  [
    'a time that is none',
    '{"keys":[{"kid":"a","algorithm":"ES256","sealed":"x","createdAt":"1","signsFrom":1,"longest":1}]}',
  ],
])('A record of %s fails, and is not replaced in silence', async (_what, text) => {
  const { open, texts, manage } = stage()
  await open().published()
  const [name = ''] = texts.keys()
  texts.set(name, { value: text, version: 'r'.repeat(22) })
  expect(await open().published()).toEqual(['503'])
  await expect(manage().list()).rejects.toThrow(/cannot read|JSON/)
  expect(texts.get(name)?.value).toBe(text)
})

test('Without the secret of the keys, a process makes none of their algorithm, and retiring them is the way out', async () => {
  const { open, manage, texts } = stage()
  const both = { algorithms: ['EdDSA', 'ES256'] as const, secrets: [another] }
  const [lost = ''] = await open().published()
  await open({ ...both, secrets: [another, keySecret] }).published()
  const before = new Map(texts)
  const locked = open(both)
  expect(await locked.published()).toEqual(['503'])
  await expect(manage([another]).rotate()).rejects.toThrow(/keys of ES256 that no secret/)
  expect(texts).toEqual(before)
  await manage([another]).retire(lost)
  const kids = await locked.published()
  expect(kids).toHaveLength(2)
  expect(kids).not.toContain(lost)
})

test('A secret is changed in two steps: first every process knows both, then the new one seals', async () => {
  const { open, manage } = stage()
  const [first = ''] = await open().published()
  const [knowing, sealing, old] = [
    open({ secrets: [keySecret, another] }),
    open({ secrets: [another, keySecret] }),
    open(),
  ]
  await sealing.published()
  await manage([another, keySecret]).rotate()
  expect(await knowing.published()).toHaveLength(2)
  const listed = await manage([another, keySecret]).list()
  const secrets = listed.map(({ kid, secret }) => [kid === first ? 'first' : 'next', secret])
  expect(Object.fromEntries(secrets)).toEqual({ first: 2, next: 1 })
  // A process that knows only the old secret goes on with the key that it can open, and removes none.
  expect(await old.published()).toEqual([first])
  expect(await manage().list()).toMatchObject([{}, {}])
})

test.each([
  ['a successor', true],
  ['the first key', false],
])('A clock that is far ahead when it makes %s stops no rotation', async (_what, isSuccessor) => {
  const { open, clock, manage, signerNow } = stage()
  const ahead = new Clock()
  ahead.advance(400 * day)
  if (isSuccessor) await open().published()
  await open({}, {}, ahead).published()
  const before = await signerNow()
  const wrong = (await manage().list()).length
  const keys = await manage().rotate()
  expect(keys).toHaveLength(wrong + 1)
  // No cache elsewhere knows the new key yet.
  expect(await signerNow()).toBe(before)
  expect(await manage().rotate()).toHaveLength(keys.length)
  clock.advance(lead)
  expect(await signerNow()).not.toBe(before)
})

test('A successor is published for as long as the host says, also if a script makes it', async () => {
  const { open, manage, now } = stage()
  await open({ publishBefore: 7 * 3600 }).published()
  const [, successor] = (await manage().rotate()).toSorted((one, other) => one.signsFrom - other.signsFrom)
  expect(successor?.signsFrom).toBe(now() + 7 * 3600)
})

describe('Published keys', () => {
  const server = new KeyServer()
  const elsewhere = new KeyServer()
  beforeAll(() => Promise.all([server.start(), elsewhere.start()]))
  afterAll(() => Promise.all([server.stop(), elsewhere.stop()]))
  beforeEach(() => {
    server.requests = 0
    server.publish(hub.jwk)
  })

  /** A guard that fetches the keys of its issuer; the status of a token by a key. */
  function open(jwks_uri = server.uri) {
    const { ask, now, clock, failures } = guardedPhotos({ jwks_uri })
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
      () =>
        server.say((_request, response) => void response.writeHead(302, { Location: elsewhere.uri }).end()),
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
})
