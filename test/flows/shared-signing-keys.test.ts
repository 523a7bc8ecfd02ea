import { randomBytes } from 'node:crypto'
import {
  manageSigningKeys,
  memoryStore,
  signingKeys,
  type AuthorizationServerOptions,
  type KeyStore,
  type SigningKeys,
} from '../../lib/index'
import { application, canonicalOptions } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { keySecret, withJwts } from '../support/flows/jwt-tokens'
import { mountResources } from '../support/flows/resources'

const { issuer } = canonicalOptions
const day = 24 * 3600
/** Seconds for which a new key is published before it signs. */
const lead = 900
const another = randomBytes(32).toString('base64')
type KeyOptions = Omit<Extract<Parameters<typeof signingKeys>[0], { secrets: unknown }>, 'keys'>

/** The keys of an issuer in a store whose texts the test reads and writes, and a time of their own. */
function stage() {
  const clock = new Clock()
  const texts = new Map<string, { text: string; revision: string }>()
  const keys: KeyStore = {
    find: async (name) => texts.get(name),
    save: async (name, text, revision, expected) => {
      const stored = texts.get(name)?.revision
      if (stored !== expected && stored !== revision) return false
      texts.set(name, { text, revision })
      return true
    },
  }
  const records = memoryStore({ clock: clock.read })
  const store = {
    keys,
    find: (id: string) => records.find(id),
    save: (...words: Parameters<typeof records.save>) => records.save(...words),
    remove: (id: string) => records.remove(id),
    counters: records.counters,
  }
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
  const signer = async (secrets?: readonly string[]) =>
    (await manage(secrets).list()).find(({ signs }) => signs)?.kid ?? 'none'
  const now = () => Math.floor(clock.read() / 1000)
  return { clock, texts, store, open, manage, signer, now }
}

test('The first key signs at once, and every process that begins finds the same one', async () => {
  const { open, signer } = stage()
  const processes = Array.from({ length: 8 }, () => open())
  const seen = await Promise.all(processes.map(({ published }) => published()))
  expect(new Set(seen.map((kids) => kids.join())).size).toBe(1)
  expect(seen[0]).toEqual([await signer()])
})

test('A successor comes when rotateAfter is over, and signs after a quarter of an hour', async () => {
  const { open, signer, clock } = stage()
  const { published } = open({ rotateAfter: day })
  const [first] = await published()
  clock.advance(day - 30)
  expect(await published()).toEqual([first])
  clock.advance(20)
  expect(await published()).toHaveLength(2)
  clock.advance(lead - 10)
  expect(await signer()).toBe(first)
  clock.advance(10)
  expect(await signer()).not.toBe(first)
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

test('A retired key is gone for every process, its successor signs at once, and no other can be retired', async () => {
  const { open, manage, signer, now } = stage()
  const [one, other] = [open(), open()]
  const [leaked = ''] = await one.published()
  await other.published()
  const after = await manage().retire(leaked)
  expect(after).toMatchObject([{ signs: true, signsFrom: now() }])
  expect(await other.published()).toEqual([await signer()])
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
  texts.set(name, { text, revision: 'r'.repeat(22) })
  expect(await open().published()).toEqual(['503'])
  await expect(manage().list()).rejects.toThrow(/cannot read|JSON/)
  expect(texts.get(name)?.text).toBe(text)
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
  const { open, clock, manage, signer } = stage()
  const ahead = new Clock()
  ahead.advance(400 * day)
  if (isSuccessor) await open().published()
  await open({}, {}, ahead).published()
  const before = await signer()
  const wrong = (await manage().list()).length
  const keys = await manage().rotate()
  expect(keys).toHaveLength(wrong + 1)
  // No cache elsewhere knows the new key yet.
  expect(await signer()).toBe(before)
  expect(await manage().rotate()).toHaveLength(keys.length)
  clock.advance(lead)
  expect(await signer()).not.toBe(before)
})

test('A successor is published for as long as the host says, also if a script makes it', async () => {
  const { open, manage, now } = stage()
  await open({ publishBefore: 7 * 3600 }).published()
  const [, successor] = (await manage().rotate()).toSorted((one, other) => one.signsFrom - other.signsFrom)
  expect(successor?.signsFrom).toBe(now() + 7 * 3600)
})
