import { Redis } from 'ioredis'
import supertest, { type Response } from 'supertest'
import { redisStore, type AuthorizationServerOptions, type RedisStore } from '../../../lib/index'
import { application } from '../../support/flows/application'
import { bent, everyClient, nightlyReport, photoPrint } from '../../support/flows/clients'
import { authorizationRequest, basic, Flow } from '../../support/flows/flow'
import { codeOf } from '../../support/flows/redirection'
import { notesService } from '../../support/flows/registering'
import { refusalOf, tokensOf } from '../../support/flows/tokens'
import { startRedis, type RedisServer } from '../../support/redis-server'
import { report, type Row } from '../../support/reliability/report'
import { watchCommands, type WatchedCommands } from '../../support/reliability/watched-commands'
import { uniquePrefix } from '../../support/stores/redis-under-test'

const clients = everyClient.map(
  (client) => (client === photoPrint ? bent(client, { may_introspect: true }) : client).registration,
)
const rounds = 5
const repeatedBy =
  'RELIABILITY_REPORT=1 npx jest --config test/system/jest.config.ts test/system/stores/costs.test.ts'

/**
 * What each operation asks of Redis in the process that served the one before, with clients from the options, and with
 * `clients: store.clients`. In another process a decision and a redemption read the record first.
 */
const promised: Readonly<Record<string, { readonly configured: string; readonly registered: string }>> = {
  'authorization request': { configured: 'EVALSHA', registered: 'HGET, EVALSHA' },
  'authorization request, approved already': { configured: 'EVALSHA', registered: 'HGET, EVALSHA' },
  decision: { configured: 'EVALSHA', registered: 'HGET, EVALSHA' },
  'code redeemed': { configured: 'EVALSHA', registered: 'HGET, EVALSHA' },
  refresh: { configured: 'GET, EVALSHA', registered: 'HGET, GET, EVALSHA' },
  'refresh again, in its grace': { configured: 'GET, EVALSHA', registered: 'HGET, GET, EVALSHA' },
  'client credentials': { configured: 'EVALSHA', registered: 'HGET, EVALSHA' },
  guard: { configured: 'GET', registered: 'GET' },
  introspection: { configured: 'GET', registered: 'HGET, GET' },
  revocation: { configured: 'GET, EVALSHA', registered: 'HGET, GET, EVALSHA' },
  'revocation, repeated': { configured: 'GET', registered: 'HGET, GET' },
  'code redeemed, where nothing is there': { configured: 'GET', registered: 'HGET, GET' },
  'refresh, where nothing is there': { configured: 'GET', registered: 'HGET, GET' },
}

describe('On Redis', () => {
  let server: RedisServer
  let redis: Redis
  let watched: WatchedCommands
  let store: RedisStore
  let prefix: string
  const rows: Row[] = []
  beforeAll(async () => {
    server = await startRedis({ own: true })
    redis = new Redis(server.url)
    watched = await watchCommands(redis)
  })
  afterAll(async () => {
    watched.stop()
    redis.disconnect()
    await server.stop()
    report('costs', repeatedBy, rows)
  })
  beforeEach(() => {
    prefix = uniquePrefix()
    store = redisStore({ url: server.url, prefix })
  })
  afterEach(() => store.close())

  const open = (options: Partial<AuthorizationServerOptions> = {}) =>
    application({
      clients,
      storeDeadline: 10,
      store,
      skipConsent: (_request, { subject }) => subject === 'bob',
      ...options,
    }).flow

  /** Each operation once, with clients that authenticate by a secret. */
  async function commandsOf(flow: Flow): Promise<Readonly<Record<string, string>>> {
    const commands: Record<string, string> = {}
    const watch = async (operation: string, act: () => Promise<Response>): Promise<Response> => {
      const { answer, sent } = await watched.during(act)
      commands[operation] = sent.join(', ')
      return answer
    }
    codeOf(
      await watch('authorization request, approved already', () =>
        flow.ask(authorizationRequest(photoPrint), 'bob'),
      ),
    )
    const page = await watch('authorization request', () =>
      flow.ask(authorizationRequest(photoPrint), 'alice'),
    )
    const code = codeOf(await watch('decision', () => flow.decide(page, 'approve', 'alice')))
    const redeemed = await watch('code redeemed', () => flow.redeem(photoPrint, code))
    const { accessToken, refreshToken } = tokensOf(redeemed)
    for (const operation of ['refresh', 'refresh again, in its grace'])
      tokensOf(await watch(operation, () => flow.refresh(photoPrint, refreshToken)))
    const itself = { grant_type: 'client_credentials', scope: 'photos:read' }
    tokensOf(await watch('client credentials', () => flow.request(nightlyReport, itself)))
    expect(await watch('guard', () => flow.photos(accessToken))).toHaveProperty('status', 200)
    const introspected = await watch('introspection', () => flow.introspect(photoPrint, accessToken))
    expect(introspected.body).toMatchObject({ active: true })
    for (const operation of ['revocation', 'revocation, repeated'])
      expect(await watch(operation, () => flow.revoke(photoPrint, accessToken))).toHaveProperty('status', 200)
    const ended = [
      await watch('code redeemed, where nothing is there', () => flow.redeem(photoPrint, code)),
      await watch('refresh, where nothing is there', () => flow.refresh(photoPrint, refreshToken)),
    ]
    expect(ended.map(refusalOf)).toEqual(['400 invalid_grant', '400 invalid_grant'])
    return commands
  }

  test.each([
    ['configured', 'with clients from the options'],
    ['registered', 'with clients of the store'],
  ] as const)('each operation costs the commands that are promised: %s', async (kind, title) => {
    if (kind === 'registered') for (const client of clients) await store.clients.add(client)
    const flow = open(kind === 'registered' ? { clients: store.clients } : {})
    // The first time Redis gets the script whole.
    await commandsOf(flow)
    const expected = Object.fromEntries(Object.entries(promised).map(([name, costs]) => [name, costs[kind]]))
    for (let round = 0; round < rounds; round++) expect(await commandsOf(flow)).toEqual(expected)
    for (const [name, commands] of Object.entries(expected)) {
      const count = commands.split(', ').length
      const invariant = `${count} round trip${count === 1 ? '' : 's'}`
      rows.push({ case: `${name}, ${title}`, rounds, invariant, result: commands })
    }
  })

  test('a client that registered itself costs one read, and one note a day in the packet of a write', async () => {
    const { app } = application({
      clients: store.clients,
      storeDeadline: 10,
      store,
      dynamicRegistration: {},
    })
    const flow = new Flow(app)
    const story = async () => {
      const metadata = { ...notesService, client_name: uniquePrefix() }
      const { body } = await supertest(app).post('/register').send(metadata)
      const client = { client_id: body.client_id, redirect_uri: metadata.redirect_uris[0] }
      const asked = { response_type: 'code', scope: 'photos:read', ...client }
      const asClient = { Authorization: basic(body.client_id, body.client_secret) }
      const page = await watched.during(() => flow.ask(asked, 'alice'))
      const decision = await watched.during(() => flow.decide(page.answer, 'approve', 'alice'))
      const fields = { grant_type: 'authorization_code', code: codeOf(decision.answer), ...client }
      const redeemed = await watched.during(() => flow.submit('/token', fields, undefined, asClient))
      const refreshing = { grant_type: 'refresh_token', refresh_token: redeemed.answer.body.refresh_token }
      const refreshed = await watched.during(() => flow.submit('/token', refreshing, undefined, asClient))
      expect(refreshed.answer.status).toBe(200)
      return [page, decision, redeemed, refreshed].map(({ sent }) => sent.join(', '))
    }
    // The first time Redis gets the scripts whole.
    await story()
    expect(await story()).toEqual([
      'GET, EVALSHA, EVALSHA',
      'GET, EVALSHA, EVALSHA',
      'GET, EVALSHA',
      'GET, GET, EVALSHA',
    ])
  })

  test('an authorization is one key of less than 4 KiB, however often it is refreshed', async () => {
    const flow = open()
    const bytes: Record<string, number> = {}
    const weigh = async (state: string) => {
      const [key = '', ...more] = await redis.keys(`${prefix}authorization:*`)
      expect({ state, more }).toEqual({ state, more: [] })
      bytes[state] = Number(await redis.memory('USAGE', key))
    }
    const withoutRefreshToken = { grant_type: 'client_credentials', scope: 'photos:read' }
    await flow.request(nightlyReport, withoutRefreshToken)
    await weigh('active, without a refresh token')
    await redis.flushall()

    const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
    await weigh('pending')
    const code = codeOf(await flow.decide(page, 'approve', 'alice'))
    await weigh('approved')
    let { refreshToken } = tokensOf(await flow.redeem(photoPrint, code))
    await weigh('active, with a refresh token')
    for (let refreshes = 1; refreshes <= 50; refreshes++) {
      refreshToken = tokensOf(await flow.refresh(photoPrint, refreshToken)).refreshToken
      if ([1, 10, 40, 50].includes(refreshes)) await weigh(`active, after ${refreshes} refreshes`)
    }
    await flow.revoke(photoPrint, refreshToken)
    expect(await redis.keys(`${prefix}authorization:*`)).toEqual([])

    for (const [state, size] of Object.entries(bytes)) {
      expect({ state, fits: size > 100 && size < 4096 }).toEqual({ state, fits: true })
      rows.push({ case: `bytes: ${state}`, rounds: 1, invariant: 'one key', result: `${size} bytes` })
    }
    // 32 access tokens live at most: from then on it does not grow.
    expect(bytes['active, after 50 refreshes']).toBe(bytes['active, after 40 refreshes'])
  })
})
