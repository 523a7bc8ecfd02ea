import request from 'supertest'
import { mac, type MacOptions } from '../../lib/index'
import { bent, nightlyReport } from '../support/flows/clients'
import type { Stage } from '../support/flows/stores-of-run'
import { headerOf, macAttributes, type MacTokens, type SignedParts } from '../support/flows/mac'
import { setStage } from '../support/flows/stage'

const hosts = ['api.example.com', 'api.example.com:8080']
const job = bent(nightlyReport, { client_id: 'weekly-report', token_type: 'mac' })
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

interface Scene extends Stage {
  readonly tokens: MacTokens
  /** The attributes of a good request that the client has made right now. */
  readonly signed: (parts?: SignedParts) => Record<string, string>
}

async function scene(options: Partial<MacOptions> = {}): Promise<Scene> {
  const set = setStage({
    tokenTypes: [mac({ hosts, ...options })],
    clients: [job.registration, nightlyReport.registration],
  })
  const { body } = await set.flow.request(job, grant)
  const signed = (parts: SignedParts = {}) =>
    macAttributes(body, { port: '80', ts: set.clock.read(), ...parts })
  return { ...set, tokens: body, signed }
}

interface Sent {
  readonly header: string
  readonly method?: 'get' | 'head'
  readonly target?: string
  readonly host?: string
}

/** Status, and the reason that stays on this side. */
async function outcome({ app, failures }: Stage, sent: Sent): Promise<string> {
  const { header, method = 'get', target = '/photos', host = 'api.example.com' } = sent
  const response = await request(app)[method](target).set({ Host: host, Authorization: header })
  return response.status === 200 ? '200' : `${response.status} ${failures.at(-1)?.reason}`
}

const flipped = (text = '') => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)
const without = (attributes: Record<string, string>, name: string) =>
  headerOf(Object.fromEntries(Object.entries(attributes).filter(([key]) => key !== name)))

test('what the attacks bend is good before they do', async () => {
  const set = await scene()
  expect(await outcome(set, { header: headerOf(set.signed()) })).toBe('200')
  expect(await outcome(set, { header: headerOf(set.signed({ age: 0 })) })).toBe('200')
  expect(await outcome(set, { header: headerOf(set.signed({ ext: 'a,b,c' })) })).toBe('200')
  const elsewhere = headerOf(set.signed({ port: '8080' }))
  expect(await outcome(set, { header: elsewhere, host: 'API.example.com:8080' })).toBe('200')
})

const wrong = '401 mac_wrong'
const malformed = '400 token_malformed'

test.each<[string, string, (set: Scene) => Sent | Promise<Sent>]>([
  ['for another host', wrong, ({ signed }) => ({ header: headerOf(signed({ host: 'other.example' })) })],
  [
    'for another server, sent on with its Host',
    '401 mac_host_not_listed',
    ({ signed }) => ({ header: headerOf(signed({ host: 'evil.example' })), host: 'evil.example' }),
  ],
  ['for another port', wrong, ({ signed }) => ({ header: headerOf(signed({ port: '8080' })) })],
  ['for another method', wrong, ({ signed }) => ({ header: headerOf(signed({ method: 'POST' })) })],
  ['for another path', wrong, ({ signed }) => ({ header: headerOf(signed({ target: '/album' })) })],
  ['with a query more', wrong, ({ signed }) => ({ header: headerOf(signed()), target: '/photos?all=1' })],
  [
    'for the same path in another spelling',
    wrong,
    ({ signed }) => ({ header: headerOf(signed({ target: '/%70hotos' })) }),
  ],
  [
    'too long ago',
    '401 mac_not_in_time',
    ({ signed, clock }) => ({ header: headerOf(signed({ ts: clock.read() - 61_000 })) }),
  ],
  ['for an older key', '401 mac_not_in_time', ({ signed }) => ({ header: headerOf(signed({ age: 61 })) })],
  ['with another key', wrong, ({ tokens, signed }) => keyed(tokens, signed, { mac_key: 'x'.repeat(43) })],
  [
    'with SHA-1, which the token is not for',
    wrong,
    ({ tokens, signed }) => keyed(tokens, signed, { mac_algorithm: 'hmac-sha-1' }),
  ],
  ['with another age', wrong, ({ signed }) => bend(signed({ age: 0 }), () => ({ nonce: '1:x' }))],
  ['in one form, sent in the other', malformed, ({ signed }) => ({ header: without(signed(), 'ts') })],
  ['with ext taken away', wrong, ({ signed }) => ({ header: without(signed({ ext: 'read' }), 'ext') })],
  ['with another MAC', wrong, ({ signed }) => bend(signed(), (good) => ({ mac: flipped(good['mac']) }))],
  ['without a MAC', malformed, ({ signed }) => ({ header: without(signed(), 'mac') })],
  ['with its nonce twice', malformed, ({ signed }) => ({ header: `${headerOf(signed())}, nonce="x"` })],
  ['with two MACs', malformed, ({ signed }) => twice(signed(), 'mac')],
  ['with a body hash', malformed, ({ signed }) => bend(signed(), () => ({ bodyhash: 'AAAA' }))],
  ['in a huge header', malformed, ({ signed }) => ({ header: headerOf(signed({ ext: 'x'.repeat(8000) })) })],
  ['as a bare token', malformed, ({ tokens }) => ({ header: `MAC ${tokens.access_token}` })],
  [
    'not at all: the token as Bearer',
    '401 token_of_another_type',
    ({ tokens }) => ({ header: `Bearer ${tokens.access_token}` }),
  ],
  ['with the id of a token that is not', '401 token_invalid', ({ signed }) => otherId(signed())],
  [
    'with a bearer token as its id',
    '401 token_of_another_type',
    async ({ flow, signed }) => {
      const { body } = await flow.request(nightlyReport, grant)
      return bend(signed(), () => ({ id: body.access_token }))
    },
  ],
  ['twice', '401 mac_replayed', async (set) => spent(set, headerOf(set.signed()))],
  ['with an age, twice', '401 mac_replayed', async (set) => spent(set, headerOf(set.signed({ age: 1 })))],
  [
    'twice, the second time with an empty ext',
    '401 mac_replayed',
    async (set) => {
      const header = headerOf(set.signed())
      await spent(set, header)
      return { header: `${header}, ext=""` }
    },
  ],
])('a request signed %s is refused: %s [token-23, token-24]', async (_how, expected, attack) => {
  const set = await scene()
  expect(await outcome(set, await attack(set))).toBe(expected)
})

test('a nonce is not used up by who has no key [token-27]', async () => {
  const set = await scene()
  const attributes = set.signed()
  const forged = headerOf({ ...attributes, mac: flipped(attributes['mac']) })
  expect(await outcome(set, { header: forged })).toBe(wrong)
  expect(await outcome(set, { header: headerOf(attributes) })).toBe('200')
})

test('a token of an algorithm that is not offered any more is refused [token-29]', async () => {
  const set = await scene({ algorithms: ['hmac-sha-1'] })
  const stricter = setStage({ store: set.store, clock: set.clock.read, tokenTypes: [mac({ hosts })] })
  expect(await outcome(set, { header: headerOf(set.signed()) })).toBe('200')
  expect(await outcome(stricter, { header: headerOf(set.signed()) })).toBe('401 mac_algorithm_not_offered')
})

test('a revoked token and an expired one are refused, however well they are signed', async () => {
  const set = await scene()
  set.clock.advance(3600)
  expect(await outcome(set, { header: headerOf(set.signed()) })).toBe('401 token_invalid')
})

function keyed(tokens: MacTokens, signed: Scene['signed'], other: Partial<MacTokens>): Sent {
  const { ts = '' } = signed()
  return { header: headerOf(macAttributes({ ...tokens, ...other }, { port: '80', ts: Number(ts) * 1000 })) }
}

function bend(
  good: Record<string, string>,
  how: (good: Record<string, string>) => Record<string, string>,
): Sent {
  return { header: headerOf({ ...good, ...how(good) }) }
}

function twice(good: Record<string, string>, name: string): Sent {
  return { header: `${headerOf(good)}, ${name}="${good[name]}"` }
}

function otherId(good: Record<string, string>): Sent {
  return bend(good, ({ id = '' }) => ({ id: id.slice(0, -4) + (id.endsWith('AAAA') ? 'BBBB' : 'AAAA') }))
}

async function spent(set: Scene, header: string): Promise<Sent> {
  expect(await outcome(set, { header })).toBe('200')
  return { header }
}
