import { randomUUID } from 'node:crypto'
import { photoBook, photoFrame } from '../../support/flows/clients'
import { authorizationRequest, type Flow } from '../../support/flows/flow'
import { codeOf } from '../../support/flows/redirection'
import { startServer, type ServerProcess } from '../../support/flows/start-server'
import { refusalOf, tokensOf } from '../../support/flows/tokens'
import { startRedis, type RedisServer } from '../../support/redis-server'

let redis: RedisServer
let running: ServerProcess | undefined

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
afterEach(async () => {
  await running?.kill()
  running = undefined
})

/** A server that is killed and started anew before each step. */
function restarting(): () => Promise<Flow> {
  const prefix = `restart:${randomUUID()}:`
  return async () => {
    await running?.kill()
    running = await startServer({ redis: { url: redis.url }, prefix })
    return running.flow
  }
}

describe('A server that is killed and started anew between any two steps', () => {
  test.each([photoBook, photoFrame])('loses nothing of $registration.client_id', async (client) => {
    const restarted = restarting()
    const page = await (await restarted()).ask(authorizationRequest(client), 'alice')
    const approval = await (await restarted()).decide(page, 'approve', 'alice')
    const first = tokensOf(await (await restarted()).redeem(client, codeOf(approval)))
    expect((await (await restarted()).photos(first.accessToken)).body).toMatchObject({ subject: 'alice' })
    const second = tokensOf(await (await restarted()).refresh(client, first.refreshToken))
    const flow = await restarted()
    expect((await flow.photos(first.accessToken)).status).toBe(200)
    expect((await flow.photos(second.accessToken)).status).toBe(200)
    const { accessToken, refreshToken } = tokensOf(await flow.refresh(client, first.refreshToken))
    expect([accessToken, refreshToken]).toEqual([second.accessToken, second.refreshToken])
  })

  test('forgets neither that a page was decided nor that a code was spent [code-17]', async () => {
    const restarted = restarting()
    const page = await (await restarted()).ask(authorizationRequest(photoBook), 'alice')
    const code = codeOf(await (await restarted()).decide(page, 'approve', 'alice'))
    expect(codeOf(await (await restarted()).decide(page, 'approve', 'alice'))).toBe(code)
    expect((await (await restarted()).decide(page, 'deny', 'alice')).status).toBe(400)
    const { accessToken } = tokensOf(await (await restarted()).redeem(photoBook, code))
    expect(refusalOf(await (await restarted()).redeem(photoBook, code))).toBe('400 invalid_grant')
    expect((await (await restarted()).photos(accessToken)).status).toBe(401)
  })

  test('does not forget wrong verifiers', async () => {
    const restarted = restarting()
    const code = await (await restarted()).approve(photoBook)
    const guess = { code_verifier: 'x'.repeat(43) }
    for (const guesses of [2, 3]) {
      const flow = await restarted()
      for (let turn = 1; turn <= guesses; turn += 1) await flow.redeem(photoBook, code, guess)
    }
    expect(refusalOf(await (await restarted()).redeem(photoBook, code))).toBe('400 invalid_grant')
  })
})
