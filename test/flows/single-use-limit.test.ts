import { randomUUID } from 'node:crypto'
import express from 'express'
import type { Redis } from 'ioredis'
import {
  createBearerGuard,
  mac,
  memoryCounters,
  redisStore,
  type AuthorizationServerOptions,
  type GrantType,
} from '../../lib/index'
import { application } from '../support/flows/application'
import { bent, nightlyReport } from '../support/flows/clients'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { Flow } from '../support/flows/flow'
import { macHeader, type MacTokens } from '../support/flows/mac'
import { refusalOf } from '../support/flows/tokens'
import { withRedis } from '../support/with-redis'

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const voucher = 'https://photos.example/grants/voucher'
const vouchers: GrantType = {
  name: voucher,
  parameters: ['voucher'],
  async handle({ parameters, counters }) {
    await counters.useOnce(`voucher:${parameters.require('voucher')}`, 600)
    return { grant: { subject: 'alice', scope: ['photos:read'], refreshToken: false, extensionData: {} } }
  },
}
const job = bent(nightlyReport, { token_type: 'mac', grant_types: ['client_credentials', voucher] })
const other = bent(nightlyReport, { client_id: 'weekly-report', token_type: 'mac' })
const signing: Partial<AuthorizationServerOptions> = {
  tokenTypes: [mac({ hosts: ['api.example.com'] })],
  grantTypes: [vouchers],
  clients: [job.registration, other.registration],
}
const three = { attempts: 3, seconds: 60 }

const signed = (clock: Stage['clock'], tokens: MacTokens) => ({
  Host: 'api.example.com',
  Authorization: macHeader(tokens, { port: '80', ts: clock.read() }),
})
const tokensFor = async ({ flow }: Pick<Stage, 'flow'>, client = job): Promise<MacTokens> =>
  (await flow.request(client, grant)).body

describeOnStores('What one client may use once', (stage) => {
  test('is limited: a signed request beyond it is told when to come again, and others pass', async () => {
    const set = stage({ ...signing, singleUseLimit: three })
    const [tokens, others] = [await tokensFor(set), await tokensFor(set, other)]
    const use = (own: MacTokens) => set.flow.open('/photos', undefined, signed(set.clock, own))
    for (let request = 0; request < 3; request++) expect((await use(tokens)).status).toBe(200)
    const refused = await use(tokens)
    expect(refusalOf(refused)).toBe('429 temporarily_unavailable')
    expect(refused.headers['retry-after']).toBe('20')
    expect(set.failures).toMatchObject([
      { endpoint: 'protected resource', reason: 'single_use_limited', retryAfter: 20 },
    ])
    expect((await use(others)).status).toBe(200)
    set.clock.advance(20)
    expect((await use(tokens)).status).toBe(200)
  })

  test('is limited at a guard in another application, too, and by no failed signature', async () => {
    const set = stage(signing)
    const tokens = await tokensFor(set)
    const { store, clock } = set
    const { tokenTypes = [] } = signing
    const guard = createBearerGuard({
      issuer: 'http://localhost',
      store,
      clock: clock.read,
      storeDeadline: 10,
      tokenTypes,
      singleUseLimit: three,
    })
    const app = express()
    app.get('/photos', guard(), (_request, response) => void response.json({}))
    const flow = new Flow(app)
    const forged = { ...tokens, mac_key: 'x'.repeat(43) }
    for (let request = 0; request < 5; request++)
      expect((await flow.open('/photos', undefined, signed(clock, forged))).status).toBe(401)
    for (let request = 0; request < 3; request++)
      expect((await flow.open('/photos', undefined, signed(clock, tokens))).status).toBe(200)
    expect(refusalOf(await flow.open('/photos', undefined, signed(clock, tokens)))).toBe(
      '429 temporarily_unavailable',
    )
  })

  test('is limited at the token endpoint by the same count', async () => {
    const set = stage({ ...signing, singleUseLimit: three })
    const use = () => set.flow.request(job, { grant_type: voucher, voucher: randomUUID() })
    for (let request = 0; request < 3; request++) expect((await use()).status).toBe(200)
    const refused = await use()
    expect(refusalOf(refused)).toBe('429 temporarily_unavailable')
    expect(set.failures).toMatchObject([{ endpoint: 'token', reason: 'single_use_limited' }])
  })

  test('is not limited where the host switches it off', async () => {
    const set = stage({ ...signing, singleUseLimit: false })
    const tokens = await tokensFor(set)
    for (let request = 0; request < 10; request++)
      expect((await set.flow.open('/photos', undefined, signed(set.clock, tokens))).status).toBe(200)
  })
})

test('Counters in memory keep a quarter of their room for what one client uses once', async () => {
  const set = application({ ...signing, counters: memoryCounters({ maximumKeys: 8 }) })
  const [tokens, others] = [await tokensFor(set), await tokensFor(set, other)]
  const use = (own: MacTokens) => {
    const Authorization = macHeader(own, { port: '80' })
    return set.flow.open('/photos', undefined, { Host: 'api.example.com', Authorization })
  }
  for (let request = 0; request < 2; request++) expect((await use(tokens)).status).toBe(200)
  for (let request = 0; request < 10; request++)
    expect(refusalOf(await use(tokens))).toBe('429 temporarily_unavailable')
  expect(set.failures[0]).toMatchObject({ reason: 'single_uses_full' })
  for (let request = 0; request < 2; request++) expect((await use(others)).status).toBe(200)
})

describe('On Redis', () => {
  let client: Redis
  withRedis((started) => {
    client = started.client
  })

  test('signed requests of one client leave no more keys than its limit [store-29]', async () => {
    const prefix = `uses:${randomUUID()}:`
    const set = application({
      ...signing,
      store: redisStore({ client, prefix }),
      storeDeadline: 10,
      singleUseLimit: three,
    })
    const tokens = await tokensFor(set)
    for (let request = 0; request < 12; request++) {
      const Authorization = macHeader(tokens, { port: '80' })
      await set.flow.open('/photos', undefined, { Host: 'api.example.com', Authorization })
    }
    expect(await client.keys(`${prefix}spent:*`)).toHaveLength(3)
  })
})
