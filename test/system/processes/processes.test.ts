import type { Response } from 'supertest'
import type { DpopOptions } from '../../../lib/paths/dpop'
import { claimsAt, hub, issuers, jwt } from '../../support/assertions/jwt'
import { type ClientApplication, photoBook, photoFrame } from '../../support/flows/clients'
import { authorizationRequest, type Flow, redemption } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { hashOf, Prover } from '../../support/flows/prover'
import { codeOf } from '../../support/flows/redirection'
import type { ServerPlan } from '../../support/flows/server-process'
import { startServer, type ServerProcess } from '../../support/flows/start-server'
import { tokensOf, type Tokens } from '../../support/flows/tokens'
import { describeOnDatabases } from '../../support/stores/databases'

const servers: ServerProcess[] = []
const killAll = () => Promise.all(servers.splice(0).map((server) => server.kill()))
afterEach(killAll)

let plan: ServerPlan
async function start(bend: Partial<ServerPlan> = {}): Promise<Flow> {
  const server = await startServer({ ...plan, ...bend })
  servers.push(server)
  return server.flow
}

type Two = readonly [Flow, Flow]

/** Two processes with a bend, of which the second may have one more. */
const startTwo = (bend: Partial<ServerPlan>, ofSecond: Partial<ServerPlan> = {}): Promise<Two> =>
  Promise.all([start(bend), start({ ...bend, ...ofSecond })])

/** Sends one request 64 times at once, to one process and the other in turn. */
const atOnce = ([one, other]: Two, ask: (flow: Flow, turn: number) => Promise<Response>) =>
  Promise.all(Array.from({ length: 64 }, (_, turn) => ask(turn % 2 === 0 ? one : other, turn)))

const outcomesOf = (responses: readonly Response[]) => [...new Set(responses.map(outcomeOf))].toSorted()
const winnersOf = (responses: readonly Response[]): readonly Tokens[] =>
  responses.filter(({ status }) => status === 200).map(tokensOf)

async function expectDead(
  flows: readonly Flow[],
  { accessToken, refreshToken }: Tokens,
  client: ClientApplication = photoBook,
) {
  for (const flow of flows) {
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect(outcomeOf(await flow.refresh(client, refreshToken))).toBe('400 invalid_grant')
  }
}

const guess = { code_verifier: 'x'.repeat(43) }

describeOnDatabases('Two processes on', ['Redis'], (place) => {
  let usual: readonly ServerProcess[] = []
  let flows: Two
  beforeAll(async () => {
    plan = { store: (await place()).store }
    usual = await Promise.all([1, 2].map(() => startServer(plan)))
    const [one, other] = usual.map(({ flow }) => flow)
    if (one !== undefined && other !== undefined) flows = [one, other]
  })
  afterAll(() => Promise.all(usual.map((server) => server.kill())))

  test.each([photoBook, photoFrame])(
    'give one of 64 parallel redemptions by $registration.client_id tokens, which the others then kill [code-3]',
    async (client) => {
      const code = await flows[0].approve(client)
      const responses = await atOnce(flows, (flow) => flow.redeem(client, code))
      expect(outcomesOf(responses)).toEqual(['400 invalid_grant', 'tokens'])
      const [winner, ...more] = winnersOf(responses)
      expect(more).toEqual([])
      if (winner !== undefined) await expectDead(flows, winner, client)
    },
  )

  test('give one of 64 parallel requests with one assertion a token', async () => {
    const both = await startTwo({ issuers })
    const request = {
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: jwt(hub, claimsAt(Math.floor(Date.now() / 1000))),
      scope: 'photos:read',
    }
    const responses = await atOnce(both, (flow) => flow.request(photoFrame, request))
    expect([outcomesOf(responses), winnersOf(responses).length]).toEqual([['400 invalid_grant', 'tokens'], 1])
  })

  test('give all of 64 parallel refreshes the same pair within the grace', async () => {
    const { refreshToken } = await flows[0].tokens(photoBook)
    const pairs = (await atOnce(flows, (flow) => flow.refresh(photoBook, refreshToken))).map(tokensOf)
    const [pair = '', ...others] = new Set(pairs.map((each) => `${each.accessToken} ${each.refreshToken}`))
    expect(others).toEqual([])
    const [accessToken = '', next = ''] = pair.split(' ')
    for (const flow of flows) expect((await flow.photos(accessToken)).status).toBe(200)
    expect(outcomeOf(await flows[1].refresh(photoBook, next))).toBe('tokens')
  })

  test('give one of 64 parallel refreshes a pair without a grace, which the others then kill [refresh-3]', async () => {
    const both = await startTwo({ refreshTokenGrace: 0 })
    const first = await both[0].tokens(photoBook)
    const responses = await atOnce(both, (flow) => flow.refresh(photoBook, first.refreshToken))
    const winners = winnersOf(responses)
    expect([outcomesOf(responses), winners.length]).toEqual([['400 invalid_grant', 'tokens'], 1])
    for (const pair of [first, ...winners]) await expectDead(both, pair)
  })

  test('refuse 64 parallel refreshes after the grace, and kill everything', async () => {
    const first = await flows[0].tokens(photoBook)
    const second = tokensOf(await flows[1].refresh(photoBook, first.refreshToken))
    const later = await startTwo({ ahead: 31 })
    const responses = await atOnce(later, (flow) => flow.refresh(photoBook, first.refreshToken))
    expect(outcomesOf(responses)).toEqual(['400 invalid_grant'])
    for (const pair of [first, second]) await expectDead([...flows, ...later], pair)
  })

  test('give 64 parallel approvals of one form the same code, which is good once', async () => {
    const page = await flows[0].ask(authorizationRequest(photoBook), 'alice')
    const responses = await atOnce(flows, (flow) => flow.decide(page, 'approve', 'alice'))
    const [code = '', ...others] = new Set(responses.map(codeOf))
    expect(others).toEqual([])
    expect(outcomeOf(await flows[1].redeem(photoBook, code))).toBe('tokens')
    for (const flow of flows) expect((await flow.decide(page, 'approve', 'alice')).status).toBe(200)
  })

  test('take one of approval and denial, of 64 at once', async () => {
    const page = await flows[0].ask(authorizationRequest(photoBook), 'alice')
    const responses = await atOnce(flows, (flow, turn) =>
      flow.decide(page, turn % 3 === 0 ? 'deny' : 'approve', 'alice'),
    )
    const won = responses.filter(({ status }) => status === 303)
    expect(new Set(won.map((response) => response.get('Location'))).size).toBe(1)
    expect(outcomesOf(responses.filter(({ status }) => status !== 303))).toEqual(['page 400 invalid_request'])
  })

  test('burn a code after five wrong verifiers, whichever of them got these [code-16]', async () => {
    const code = await flows[0].approve(photoBook)
    const guesses = await atOnce(flows, (flow) => flow.redeem(photoBook, code, guess))
    const rights = await Promise.all(flows.map((flow) => flow.redeem(photoBook, code)))
    expect(outcomesOf([...guesses, ...rights])).toEqual(['400 invalid_grant'])
  })

  const { client_id } = photoBook.registration
  const proving = (dpop: DpopOptions) => ({ dpop })

  test('take one of 64 parallel requests with one proof', async () => {
    const both = await startTwo(proving({}))
    const client = new Prover(Date.now)
    const redeem = { client_id, ...redemption(photoBook, await both[0].approve(photoBook)) }
    const DPoP = client.proof('POST', '/token')
    const answers = await atOnce(both, (flow) => flow.submit('/token', redeem, undefined, { DPoP }))
    const [tokens, ...more] = answers.filter(({ status }) => status === 200)
    expect(more).toEqual([])
    expect(new Set(answers.map(({ body }) => body.error))).toEqual(new Set([undefined, 'invalid_dpop_proof']))

    const token = String(tokens?.body.access_token)
    const proof = client.proof('GET', '/photos', { ath: hashOf(token) })
    const headers = { Authorization: `DPoP ${token}`, DPoP: proof }
    const calls = await atOnce(both, (flow) => flow.open('/photos', undefined, headers))
    expect(calls.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array<number>(63).fill(401),
    ])
  })

  test('whose clocks differ by 300 seconds take the nonces of each other, and a proof once', async () => {
    const nonces = { secret: 's'.repeat(32), seconds: 600 }
    const both = await startTwo(proving({ nonces, guardNonces: nonces, tolerance: 300 }), { ahead: 300 })
    const client = new Prover(Date.now)
    for (const [one, other] of [both, [both[1], both[0]]] as const) {
      client.nonce = undefined
      // A code of a process with another clock may have expired.
      const redeem = { client_id, ...redemption(photoBook, await other.approve(photoBook)) }
      const ask = (flow: Flow, DPoP: string) => flow.submit('/token', redeem, undefined, { DPoP })
      const asked = await ask(one, client.proof('POST', '/token'))
      expect(asked.body.error).toBe('use_dpop_nonce')
      client.nonce = asked.get('DPoP-Nonce')
      const proof = client.proof('POST', '/token')
      expect((await ask(other, proof)).body.token_type).toBe('DPoP')
      expect((await ask(one, proof)).body.error).toBe('invalid_dpop_proof')
    }
  })
})

describeOnDatabases(
  'A server that is killed and started anew between any two steps, on',
  ['SQLite'],
  (place) => {
    beforeEach(async () => {
      plan = { store: (await place()).store }
    })
    const restarted = async (): Promise<Flow> => {
      await killAll()
      return start()
    }

    test('loses nothing', async () => {
      const client = photoFrame
      const page = await (await restarted()).ask(authorizationRequest(client), 'alice')
      const approval = await (await restarted()).decide(page, 'approve', 'alice')
      const first = tokensOf(await (await restarted()).redeem(client, codeOf(approval)))
      expect((await (await restarted()).photos(first.accessToken)).body).toMatchObject({ subject: 'alice' })
      const second = tokensOf(await (await restarted()).refresh(client, first.refreshToken))
      const flow = await restarted()
      for (const { accessToken } of [first, second]) expect((await flow.photos(accessToken)).status).toBe(200)
      expect(tokensOf(await flow.refresh(client, first.refreshToken))).toMatchObject({
        accessToken: second.accessToken,
        refreshToken: second.refreshToken,
      })
    })

    test('forgets neither that a page was decided nor that a code was spent [code-17]', async () => {
      const page = await (await restarted()).ask(authorizationRequest(photoBook), 'alice')
      const code = codeOf(await (await restarted()).decide(page, 'approve', 'alice'))
      expect(codeOf(await (await restarted()).decide(page, 'approve', 'alice'))).toBe(code)
      expect((await (await restarted()).decide(page, 'deny', 'alice')).status).toBe(400)
      const { accessToken } = tokensOf(await (await restarted()).redeem(photoBook, code))
      expect(outcomeOf(await (await restarted()).redeem(photoBook, code))).toBe('400 invalid_grant')
      expect((await (await restarted()).photos(accessToken)).status).toBe(401)
    })

    test('does not forget wrong verifiers', async () => {
      const code = await (await restarted()).approve(photoBook)
      for (const guesses of [2, 3]) {
        const flow = await restarted()
        for (let turn = 1; turn <= guesses; turn += 1) await flow.redeem(photoBook, code, guess)
      }
      expect(outcomeOf(await (await restarted()).redeem(photoBook, code))).toBe('400 invalid_grant')
    })
  },
)
