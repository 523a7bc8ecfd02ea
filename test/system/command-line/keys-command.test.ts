import { randomBytes } from 'node:crypto'
import { run } from '../../../lib/command-line/run'
import { jwtAccessTokens, signingKeys } from '../../../lib/paths/jwt'
import { redisStore, type RedisStore } from '../../../lib/paths/redis'
import { application } from '../../support/flows/application'
import { mountResources, withResources } from '../../support/flows/resources'
import type { RedisServer } from '../../support/redis-server'
import { withRedis } from '../../support/with-redis'
import { uniquePrefix } from '../../support/stores/redis-under-test'

const issuer = 'http://localhost'
const secret = randomBytes(32).toString('base64')

let server: RedisServer
let open: (prefix: string) => RedisStore
withRedis((started) => {
  server = started.server
  open = (prefix) => redisStore({ client: started.client, prefix })
})

let prefix: string
let time: number
beforeEach(() => {
  prefix = uniquePrefix()
  time = Date.now()
})

const keys = (words: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
  run(['keys', ...words, '--issuer', issuer], {
    STORE_URL: `${server.url}?prefix=${prefix}`,
    SIGNING_KEY_SECRETS: secret,
    ...environment,
  })

async function answerOf(...words: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const { status, output, remarks } = await keys([...words, '--json'])
  if (status !== 0) throw new Error(remarks)
  return JSON.parse(output)
}

/** A server whose keys the command looks after, and what it publishes. */
function serving() {
  const shared = signingKeys({ secrets: [secret] })
  const plugins = [shared, jwtAccessTokens({ keys: shared })]
  const store = open(prefix)
  const { flow } = application(withResources({ store, plugins, clock: () => time }), {
    mount: mountResources,
  })
  return {
    published: async () => {
      const { status, body } = await flow.open('/.well-known/jwks.json')
      if (status !== 200) throw new Error(`The key set is answered with ${status} ${JSON.stringify(body)}.`)
      return body.keys.map(({ kid }: { kid: string }) => kid)
    },
  }
}

test('list shows each key, and which secret opens it; nothing secret is in the output', async () => {
  expect((await keys(['list'])).output).toBe(
    'No signing key is here. A server makes the first one when it starts.',
  )
  const [kid] = await serving().published()
  const { output, status } = await keys(['list'])
  expect(status).toBe(0)
  expect(output).toMatch(/^kid +algorithm +created +signs_from +signs +secret\n/)
  expect(output).toContain(kid)
  expect(await answerOf('list')).toMatchObject([{ kid, algorithm: 'ES256', signs: true, secret: 1 }])
  const other = await keys(['list', '--json'], { SIGNING_KEY_SECRETS: `${'x'.repeat(32)},${secret}` })
  expect(JSON.parse(other.output)).toMatchObject([{ secret: 2 }])
})

test('rotate publishes a successor within 10 seconds; it does not sign yet', async () => {
  const oauth = serving()
  const [first] = await oauth.published()
  const made = await keys(['rotate'])
  const [, next] = await answerOf('list')
  expect(await answerOf('list')).toMatchObject([{ kid: first, signs: true }, { signs: false }])
  expect(made.remarks).toContain(
    `ES256: made ${String(next?.['kid'])}, which signs from ${String(next?.['signs_from'])}.`,
  )
  expect((await keys(['rotate'])).remarks).toContain('ES256: a successor waits already')
  expect(await answerOf('rotate')).toHaveLength(2)
  time += 10_000
  expect(await oauth.published()).toHaveLength(2)
})

test('retire ends a key within 10 seconds, its successor signs at once, and the command says what caches do', async () => {
  const oauth = serving()
  const [leaked] = await oauth.published()
  const { status, remarks } = await keys(['retire', leaked])
  expect(status).toBe(0)
  expect(remarks).toMatch(/within 10 seconds.*within a minute.*until their cache ends: 10 minutes/)
  expect(await answerOf('list')).toMatchObject([{ signs: true }])
  time += 10_000
  const after = await oauth.published()
  expect(after).toHaveLength(1)
  expect(after).not.toContain(leaked)
})

test.each<[string, readonly string[], NodeJS.ProcessEnv, RegExp]>([
  ['an unknown key', ['retire', 'nothing'], {}, /kid names no key of this issuer/],
  ['no secret', ['list'], { SIGNING_KEY_SECRETS: '' }, / {2}- SIGNING_KEY_SECRETS must be a list of texts/],
  ['a short secret', ['list'], { SIGNING_KEY_SECRETS: 'short' }, /at least 32 characters/],
])('%s is refused with a sentence', async (_what, words, environment, message) => {
  await serving().published()
  const { status, remarks } = await keys(words, environment)
  expect(status).toBe(1)
  expect(remarks).toMatch(message)
})

test('a mistake in the issuer is told of its flag', async () => {
  const environment = { STORE_URL: server.url, SIGNING_KEY_SECRETS: secret }
  const { status, remarks } = await run(['keys', 'list'], environment)
  expect([status, remarks]).toEqual([
    1,
    expect.stringMatching(/^ {2}- --issuer must be the URL of the server\.$/m),
  ])
})

test('a wrong secret cannot rotate: the command says so, and the keys stay', async () => {
  const [kid] = await serving().published()
  const { status, remarks } = await keys(['rotate'], { SIGNING_KEY_SECRETS: 'x'.repeat(32) })
  expect([status, remarks]).toEqual([1, expect.stringContaining('Put the former secret back')])
  expect(await answerOf('list')).toMatchObject([{ kid }])
})

test('a key that is missing, and a word too many, are mistakes', async () => {
  expect((await keys(['retire'])).remarks).toContain('kid is missing')
  expect((await keys(['list', 'all'])).status).toBe(2)
  expect((await keys(['list', '--issuer', 'b'])).remarks).toContain('--issuer is given twice')
  expect((await keys(['forget'])).remarks).toContain('keys forget is not a command')
})
