import supertest, { type Response } from 'supertest'
import { decodeAuthorization } from '../../../lib/index'
import { photoBook } from '../../support/flows/clients'
import { deviceSecret, television, toaster } from '../../support/flows/device-stage'
import { extent } from '../../support/extent'
import { keySecret } from '../../support/flows/jwt-tokens'
import { wayNames, ways } from '../../support/flows/open-requests'
import { outcomeOf } from '../../support/flows/outcome'
import { codeChallenge, codeVerifier } from '../../support/flows/proof-key'
import { codeOf } from '../../support/flows/redirection'
import { notesApp } from '../../support/flows/registering'
import type { ServerPlan } from '../../support/flows/server-process'
import { type ServerProcess, startServer } from '../../support/flows/start-server'
import { tokensOf } from '../../support/flows/tokens'
import { type IssuerStage, jobToken, openIssuerStage } from '../../support/issuer/issuer-stage'
import { describeOnDatabases, type SharedPlace } from '../../support/stores/databases'

let processes: readonly ServerProcess[] = []
/** Two processes on one database. */
async function startTwo({ store }: SharedPlace, plan: Partial<ServerPlan>): Promise<void> {
  const both = { store, ...plan }
  processes = await Promise.all([startServer(both), startServer(both)])
}
const killBoth = () => Promise.all(processes.map((server) => server.kill()))

/** One process and the other in turn. */
function at(index: number): ServerProcess {
  const server = processes[index % processes.length]
  if (server === undefined) throw new Error('There is no process.')
  return server
}

const parallel = 64
const all = <Answer>(send: (server: ServerProcess, index: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: parallel }, (_, index) => send(at(index), index)))

/** How often each race is run. */
const rounds = extent(2, 200)
const raced = 1_800_000

const titleOf = ({ text }: Response) => /<title>([^<]*)</.exec(text)?.[1]

describeOnDatabases('64 requests at once to two processes on', ['Redis'], (place) => {
  let shared: SharedPlace
  beforeAll(async () => {
    shared = await place()
    const clients = [photoBook.registration, television.registration, toaster.registration]
    const grants = { pushedRequests: true, legacyTokens: true, deviceSecret }
    await startTwo(shared, { ...grants, clients, refreshTokenGrace: 300 })
  })
  afterAll(killBoth)

  /** Races at both processes, in turn the first. */
  const eachRound = async (race: (round: number) => Promise<void>) => {
    for (let round = 0; round < rounds; round++) await race(round)
  }

  test.each(wayNames)(
    'that decide one request, %s: one decision wins',
    (way) =>
      eachRound(async (round) => {
        const request = await ways[way](at(round).flow)
        const pages = [await request.page(at(0).flow), await request.page(at(1).flow)] as const
        const answers = await all(({ flow }, index) =>
          request.decide(flow, pages[index % 4 < 2 ? 0 : 1], index % 2 === 0 ? 'approve' : 'deny'),
        )
        // The owner of a device sees what was decided; elsewhere the opposite decision is refused.
        const isDevice = way === 'device'
        const won = answers.filter(({ status }) => status === (isDevice ? 200 : 303))
        const lost = answers.filter((answer) => !won.includes(answer))
        expect(new Set(won.map((answer) => answer.get('Location') ?? titleOf(answer))).size).toBe(1)
        expect([...new Set(lost.map(outcomeOf))]).toEqual(isDevice ? [] : ['page 400 invalid_request'])
        const gets = isDevice ? outcomeOf(await request.tokens(at(round).flow, pages[0])) : 'tokens'
        const isDenied = won.map(titleOf).includes('The device got no access')
        expect(gets).toBe(isDenied ? '400 access_denied' : 'tokens')
      }),
    raced,
  )

  test.each<[number, number, (typeof wayNames)[number]]>([
    [2, 64, 'pushed'],
    [8, 64, 'pushed'],
    [12, 12, 'device'],
  ])(
    'of %i owners, in %i requests for one page, %s: one owner gets it, and the client the tokens of this owner',
    (owners, times, way) =>
      eachRound(async (round) => {
        const request = await ways[way](at(round).flow)
        const pages = await Promise.all(
          Array.from({ length: times }, (_, index) =>
            request.page(at(index + round).flow, `owner-${index % owners}`),
          ),
        )
        const asked = pages.flatMap((page, index) =>
          page.status === 200 ? [{ page, owner: `owner-${index % owners}` }] : [],
        )
        expect(asked).toHaveLength(times / owners)
        const [{ page, owner } = { page: undefined, owner: '' }] = asked
        expect(new Set(asked.map((each) => each.owner))).toEqual(new Set([owner]))
        if (page === undefined) return
        const answer = await request.decide(at(round).flow, page, 'approve', owner)
        const { accessToken } = tokensOf(await request.tokens(at(round + 1).flow, answer))
        expect((await at(round).flow.photos(accessToken)).body.subject).toBe(owner)
      }),
    raced,
  )

  test(
    'that approve one pushed request without a page: one gets a code',
    () =>
      eachRound(async (round) => {
        const request = await ways.pushed(at(round).flow)
        const answers = await all(({ flow }) => request.page(flow.behind({ 'X-Approved': 'yes' })))
        expect(answers.map(outcomeOf).toSorted()).toEqual([
          ...Array<string>(parallel - 1).fill('page 400 invalid_request'),
          'redirect code',
        ])
      }),
    raced,
  )

  test(
    'that move the grant of another server: all get the same tokens, of one record',
    async () => {
      const known = new Set((await shared.texts('authorization:')).keys())
      await eachRound(async (round) => {
        const token = String(round).padStart(40, '0')
        const answers = await all(({ flow }) => flow.refresh(photoBook, token))
        const pairs = answers.map(tokensOf).map((each) => `${each.accessToken} ${each.refreshToken}`)
        expect(new Set(pairs).size).toBe(1)
      })
      const records = [...(await shared.texts('authorization:')).keys()].filter((key) => !known.has(key))
      expect(records).toHaveLength(rounds)
    },
    raced,
  )

  test.each([
    ['with refresh tokens', television],
    ['without refresh tokens', toaster],
  ])(
    'that poll an approved request %s: all get the same tokens, and the record has one',
    async (_what, client) => {
      const known = new Set((await shared.texts('authorization:')).keys())
      await eachRound(async (round) => {
        const request = await ways.device(at(round).flow, 'alice', client)
        const page = await request.page(at(round + 1).flow)
        const answer = await request.decide(at(round).flow, page, 'approve')
        const polls = await all(({ flow }) => request.tokens(flow, answer))
        expect(new Set(polls.map(outcomeOf))).toEqual(new Set(['tokens']))
        const pairs = polls.map(tokensOf).map(({ accessToken, refreshToken }) => accessToken + refreshToken)
        expect(new Set(pairs).size).toBe(1)
      })
      const made = [...(await shared.texts('authorization:'))].filter(([key]) => !known.has(key))
      expect(made).toHaveLength(rounds)
      for (const [key, text] of made)
        expect(decodeAuthorization(key.slice(14), text)).toMatchObject({
          state: 'active',
          accessTokens: [{}],
        })
    },
    raced,
  )

  test(
    'that poll an undecided request: all hear that it waits, and keep no owner from deciding',
    () =>
      eachRound(async (round) => {
        const request = await ways.device(at(round).flow)
        const page = await request.page(at(round + 1).flow)
        const polling = all(({ flow }) => request.tokens(flow, page))
        await request.decide(at(round).flow, page, 'approve')
        // Polls that reach the record after the decision get the tokens.
        const others = new Set((await polling).map(outcomeOf))
        for (const usual of ['400 authorization_pending', '400 slow_down', 'tokens']) others.delete(usual)
        expect([...others]).toEqual([])
        expect(outcomeOf(await request.tokens(at(round + 1).flow, page))).toBe('tokens')
      }),
    raced,
  )
})

describeOnDatabases(
  'A rotation of signing keys that is due, at two processes on',
  ['PostgreSQL'],
  (place) => {
    let stage: IssuerStage
    beforeAll(async () => {
      const jwts = {
        secret: keySecret,
        algorithms: ['ES256', 'RS256'] as const,
        rotateAfter: 7200,
      }
      stage = await openIssuerStage({ store: (await place()).store, accessToken: 1200, jwts })
    })
    afterAll(() => stage.stop())

    test('leaves one key that signs for each algorithm, the same at both', async () => {
      for (let round = 0; round < 2; round++) {
        await stage.advance(7200)
        const issued = await Promise.all(
          Array.from({ length: parallel }, (_, index) =>
            jobToken(
              stage.processes[index % 2 === 0 ? 0 : 1].flow,
              index % 4 < 2 ? '/token' : '/RS256/token',
            ),
          ),
        )
        expect(issued).not.toContain(undefined)
        const [one, other] = await Promise.all(stage.processes.map((each) => each.keys()))
        expect(one?.map(({ kid }) => kid)).toEqual(other?.map(({ kid }) => kid))
        const signers = one?.flatMap(({ signs, algorithm }) => (signs ? [algorithm] : []))
        expect(signers?.toSorted()).toEqual(['ES256', 'RS256'])
      }
    })
  },
)

describeOnDatabases('Two processes on', ['Redis'], (place) => {
  let shared: SharedPlace
  beforeEach(async () => {
    shared = await place()
  })
  afterEach(killBoth)

  const register = (index: number, client_name: string): Promise<Response> =>
    Promise.resolve(
      supertest(at(index).url)
        .post('/register')
        .send({ ...notesApp, client_name }),
    )

  /** The registrations that the database holds. */
  const held = async () => (await shared.texts('client:')).size

  /** An owner approves a request of the client, which gets tokens. */
  async function use(index: number, { body }: Response): Promise<Response> {
    const { flow } = at(index)
    const known = { client_id: body.client_id, redirect_uri: body.redirect_uris[0] }
    const proof = { code_challenge: codeChallenge, code_challenge_method: 'S256' }
    const page = await flow.ask({ response_type: 'code', scope: 'photos:read', ...known, ...proof }, 'alice')
    const code = codeOf(await flow.decide(page, 'approve', 'alice'))
    const fields = { grant_type: 'authorization_code', code, code_verifier: codeVerifier, ...known }
    return flow.submit('/token', fields)
  }

  test('make one client of 64 equal registrations at once', async () => {
    await startTwo(shared, { maximumClients: 100 })
    const answers = await all((_server, index) => register(index, 'Notes'))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await held()).toBe(1)
  })

  test('hold the ceiling under many different registrations, and lose no client in use [registration-1, registration-2]', async () => {
    const [attempts, ceiling, inUse] = [400, 100, 10]
    await startTwo(shared, { maximumClients: ceiling })
    const known: { readonly client_id: string; readonly refresh_token: string }[] = []
    for (let index = 0; index < inUse; index++) {
      const registered = await register(index, `In use ${index}`)
      const { refresh_token } = (await use(index, registered)).body
      known.push({ client_id: registered.body.client_id, refresh_token })
    }
    const statuses: number[] = []
    let next = 0
    const stranger = async () => {
      while (next < attempts) {
        const index = next++
        statuses.push((await register(index, `Stranger ${index}`)).status)
      }
    }
    await Promise.all(Array.from({ length: 32 }, stranger))
    expect(statuses.filter((status) => status === 201)).toHaveLength(ceiling - inUse)
    expect(statuses.filter((status) => status === 503)).toHaveLength(attempts - ceiling + inUse)
    expect(await held()).toBe(ceiling)
    for (const [index, fields] of known.entries()) {
      const refreshed = await at(index).flow.submit('/token', { grant_type: 'refresh_token', ...fields })
      expect(refreshed.status).toBe(200)
      expect((await register(index, `In use ${index}`)).body.client_id).toBe(fields.client_id)
    }
  })
})
