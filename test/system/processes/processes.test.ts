import { randomUUID } from 'node:crypto'
import type { Response } from 'supertest'
import { claimsAt, hub, issuers, jwt } from '../../support/assertions/jwt'
import { photoBook, photoFrame } from '../../support/flows/clients'
import { errorPageOf } from '../../support/flows/error-page'
import { authorizationRequest, type Flow } from '../../support/flows/flow'
import { codeOf } from '../../support/flows/redirection'
import type { ServerPlan } from '../../support/flows/server-process'
import { startServer, type ServerProcess } from '../../support/flows/start-server'
import { refusalOf, tokensOf, type Tokens } from '../../support/flows/tokens'
import { startRedis, type RedisServer } from '../../support/redis-server'

let redis: RedisServer
let plan: ServerPlan
let servers: ServerProcess[] = []

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(() => {
  plan = { redis: { url: redis.url }, prefix: `processes:${randomUUID()}:` }
})
afterEach(async () => {
  await Promise.all(servers.map((server) => server.kill()))
  servers = []
})

async function start(bend: Partial<ServerPlan> = {}): Promise<Flow> {
  const server = await startServer({ ...plan, ...bend })
  servers.push(server)
  return server.flow
}

const startTwo = async (bend: Partial<ServerPlan> = {}): Promise<readonly [Flow, Flow]> =>
  Promise.all([start(bend), start(bend)])

/** Sends one request fifty times at once, to one process and the other in turn. */
const fiftyTimes = (
  flows: readonly [Flow, Flow],
  ask: (flow: Flow) => Promise<Response>,
): Promise<Response[]> =>
  Promise.all(Array.from({ length: 50 }, (_, index) => ask(flows[index % 2 === 0 ? 0 : 1])))

const refusalsOf = (responses: readonly Response[]): readonly string[] => [
  ...new Set(responses.filter(({ status }) => status !== 200).map(refusalOf)),
]
const winnersOf = (responses: readonly Response[]): readonly Tokens[] =>
  responses.filter(({ status }) => status === 200).map(tokensOf)

async function expectDead(flows: readonly Flow[], { accessToken, refreshToken }: Tokens): Promise<void> {
  for (const flow of flows) {
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect(refusalOf(await flow.refresh(photoBook, refreshToken))).toBe('400 invalid_grant')
  }
}

describe('Two processes on one Redis', () => {
  test.each([photoBook, photoFrame])(
    'give one of fifty parallel redemptions by $registration.client_id tokens, which the others then kill [code-3]',
    async (client) => {
      const flows = await startTwo()
      const code = await flows[0].approve(client)
      const responses = await fiftyTimes(flows, (flow) => flow.redeem(client, code))
      const winners = winnersOf(responses)
      expect(winners).toHaveLength(1)
      expect(refusalsOf(responses)).toEqual(['400 invalid_grant'])
      for (const { accessToken, refreshToken } of winners)
        for (const flow of flows) {
          expect((await flow.photos(accessToken)).status).toBe(401)
          expect(refusalOf(await flow.refresh(client, refreshToken))).toBe('400 invalid_grant')
        }
    },
  )

  test('give one of fifty parallel requests with one assertion a token', async () => {
    const flows = await startTwo({ issuers })
    const request = {
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: jwt(hub, claimsAt(Math.floor(Date.now() / 1000))),
      scope: 'photos:read',
    }
    const responses = await fiftyTimes(flows, (flow) => flow.request(photoFrame, request))
    expect(winnersOf(responses)).toHaveLength(1)
    expect(refusalsOf(responses)).toEqual(['400 invalid_grant'])
  })

  test('give all of fifty parallel refreshes the same pair within the grace', async () => {
    const flows = await startTwo()
    const { refreshToken } = await flows[0].tokens(photoBook)
    const pairs = (await fiftyTimes(flows, (flow) => flow.refresh(photoBook, refreshToken))).map(tokensOf)
    expect(new Set(pairs.map((pair) => pair.accessToken)).size).toBe(1)
    expect(new Set(pairs.map((pair) => pair.refreshToken)).size).toBe(1)
    const [pair] = pairs
    for (const flow of flows) expect((await flow.photos(String(pair?.accessToken))).status).toBe(200)
    expect((await flows[1].refresh(photoBook, String(pair?.refreshToken))).status).toBe(200)
  })

  test('give one of fifty parallel refreshes a pair without a grace, which the others then kill [refresh-3]', async () => {
    const flows = await startTwo({ refreshTokenGrace: 0 })
    const first = await flows[0].tokens(photoBook)
    const responses = await fiftyTimes(flows, (flow) => flow.refresh(photoBook, first.refreshToken))
    const winners = winnersOf(responses)
    expect(winners).toHaveLength(1)
    expect(refusalsOf(responses)).toEqual(['400 invalid_grant'])
    for (const pair of [first, ...winners]) await expectDead(flows, pair)
  })

  test('refuse fifty parallel refreshes after the grace, and kill everything', async () => {
    const flows = await startTwo()
    const first = await flows[0].tokens(photoBook)
    const second = tokensOf(await flows[1].refresh(photoBook, first.refreshToken))
    const later = await startTwo({ ahead: 31 })
    const responses = await fiftyTimes(later, (flow) => flow.refresh(photoBook, first.refreshToken))
    expect(winnersOf(responses)).toHaveLength(0)
    expect(refusalsOf(responses)).toEqual(['400 invalid_grant'])
    for (const pair of [first, second]) await expectDead([...flows, ...later], pair)
  })

  test('give fifty parallel approvals of one form the same code, which is good once', async () => {
    const flows = await startTwo()
    const page = await flows[0].ask(authorizationRequest(photoBook), 'alice')
    const responses = await fiftyTimes(flows, (flow) => flow.decide(page, 'approve', 'alice'))
    const [code = '', ...others] = new Set(responses.map(codeOf))
    expect(others).toEqual([])
    expect((await flows[1].redeem(photoBook, code)).status).toBe(200)
    for (const flow of flows) expect((await flow.decide(page, 'approve', 'alice')).status).toBe(200)
  })

  test('take one of approval and denial, of fifty at once', async () => {
    const flows = await startTwo()
    const page = await flows[0].ask(authorizationRequest(photoBook), 'alice')
    let count = 0
    const responses = await fiftyTimes(flows, (flow) =>
      flow.decide(page, count++ % 3 === 0 ? 'deny' : 'approve', 'alice'),
    )
    const won = responses.filter(({ status }) => status === 303)
    const refused = responses.filter(({ status }) => status !== 303)
    expect(new Set(won.map((response) => response.get('Location'))).size).toBe(1)
    expect(new Set(refused.map(errorPageOf))).toEqual(new Set(['400 invalid_request']))
  })

  test('burn a code after five wrong verifiers, whichever of them got these [code-16]', async () => {
    const flows = await startTwo()
    const code = await flows[0].approve(photoBook)
    const guess = { code_verifier: 'x'.repeat(43) }
    const guesses = await fiftyTimes(flows, (flow) => flow.redeem(photoBook, code, guess))
    expect(refusalsOf(guesses)).toEqual(['400 invalid_grant'])
    for (const flow of flows) expect(refusalOf(await flow.redeem(photoBook, code))).toBe('400 invalid_grant')
  })
})
