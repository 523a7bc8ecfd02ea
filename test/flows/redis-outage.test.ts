import { randomUUID } from 'node:crypto'
import { redisStore, type RedisStore } from '../../lib/index'
import { describeOwnRedis } from '../support/describe-own-redis'
import { application, type Application } from '../support/flows/application'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { redirectionOf } from '../support/flows/redirection'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { startRedis, type RedisServer } from '../support/redis-server'
import { waitUntil } from '../support/wait-until'

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const asked = authorizationRequest(photoBook)
let redis: RedisServer
let store: RedisStore

beforeEach(async () => {
  redis = await startRedis({ own: true })
  store = redisStore({ url: redis.url, prefix: `outage:${randomUUID()}:` })
  await store.find('a'.repeat(22))
})
afterEach(async () => {
  await store.close()
  await redis.stop()
})

async function expectUnavailable({ flow }: Application, accessToken: string): Promise<void> {
  const page = await flow.ask(asked, 'alice')
  expect(redirectionOf(page).parameters).toMatchObject({
    error: 'temporarily_unavailable',
    state: asked.state,
  })
  expect(refusalOf(await flow.request(nightlyReport, grant))).toBe('400 temporarily_unavailable')
  expect(refusalOf(await flow.redeem(photoBook, `ac_${'A'.repeat(64)}`))).toBe('400 temporarily_unavailable')
  expect(refusalOf(await flow.photos(accessToken))).toBe('503 temporarily_unavailable')
}

describeOwnRedis('A Redis', () => {
  test('that stalls is answered for within the deadline, and nothing is lost when it goes on', async () => {
    const set = application({ store })
    const { accessToken, refreshToken } = await set.flow.tokens(photoBook)
    const page = await set.flow.ask(asked, 'alice')
    await redis.kill('SIGSTOP')
    await expectUnavailable(set, accessToken)
    const decision = await set.flow.decide(page, 'approve', 'alice')
    expect(redirectionOf(decision).parameters).toMatchObject({ error: 'temporarily_unavailable' })
    await redis.kill('SIGCONT')
    await waitUntil('it answers', async () => (await set.flow.photos(accessToken)).status === 200)
    expect(tokensOf(await set.flow.refresh(photoBook, refreshToken)).scope).toBe(asked.scope)
  })

  test('that is gone is answered for within the deadline, and used again when it is back', async () => {
    const set = application({ store })
    const { accessToken } = await set.flow.tokens(photoBook)
    await redis.kill('SIGKILL')
    await expectUnavailable(set, accessToken)
    await redis.stop()
    redis = await startRedis({ port: redis.port })
    await waitUntil('it answers', async () => (await set.flow.photos(accessToken)).status === 401)
    expect((await set.flow.tokens(photoBook)).scope).toBe(asked.scope)
  })
})
