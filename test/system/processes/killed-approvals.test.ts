import { randomUUID } from 'node:crypto'
import type { Cluster } from 'ioredis'
import type { Response } from 'supertest'
import { decodeAuthorization, implicit } from '../../../lib/index'
import { redisStore } from '../../../lib/paths/redis'
import { application, type Application, withoutLimits } from '../../support/flows/application'
import { bent, photoBook, photoPrint } from '../../support/flows/clients'
import { authorizationRequest, type Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { fragmentOf, redirectionOf } from '../../support/flows/redirection'
import { type ServerProcess, startServer } from '../../support/flows/start-server'
import { tokensOf } from '../../support/flows/tokens'
import type { RedisCluster } from '../../support/redis-cluster'
import { type Point, startStoppingWays, type StoppingWays } from '../../support/stores/stopping-ways'
import { waitUntil } from '../../support/wait-until'
import { withRedisCluster } from '../../support/with-redis'

/** An app without a secret, whose browsers get access tokens, too. */
const browserApp = bent(photoBook, {
  grant_types: ['authorization_code', 'refresh_token', 'implicit'],
  response_types: ['code', 'token'],
})
const clients = [browserApp.registration, photoPrint.registration]
const prefix = `approvals:${randomUUID()}:`

interface Process {
  readonly ways: StoppingWays
  server: ServerProcess
}

let cluster: RedisCluster
let client: Cluster
let processes: readonly [Process, Process]
/** A server that nothing stops, in which the host ends the authorizations of owners. */
let host: Application
/** A server from before the option. */
let earlier: Application

withRedisCluster((started) => {
  cluster = started.cluster
  client = started.client
})

const start = ({ plan }: StoppingWays): Promise<ServerProcess> =>
  startServer({ store: { ...plan, prefix }, clients, authorizations: true })

beforeAll(async () => {
  const open = async (): Promise<Process> => {
    const ways = await startStoppingWays(cluster)
    return { ways, server: await start(ways) }
  }
  processes = [await open(), await open()]
  const store = redisStore({ client, prefix })
  const shared = { store, clients, storeDeadline: 10, plugins: [implicit()], ...withoutLimits }
  host = application({ ...shared, authorizations: true })
  earlier = application(shared)
})
afterAll(async () => {
  await Promise.all(processes.map(({ server }) => server.kill()))
  await Promise.all(processes.map(({ ways }) => ways.stop()))
})

/** What the clients of one owner have got. */
class Gains {
  readonly owner = `owner ${randomUUID()}`
  readonly codes: string[] = []
  readonly accessTokens: string[] = []
  readonly refreshTokens: string[] = []

  takeTokens(response: Response): void {
    if (response.status !== 200) return
    const { accessToken, refreshToken } = tokensOf(response)
    this.accessTokens.push(accessToken)
    this.refreshTokens.push(refreshToken)
  }

  /** Takes what came back with the browser of the owner. */
  takeRedirect(response: Response): void {
    if (response.status !== 303) return
    const { access_token: token } = fragmentOf(response).parameters
    const { code } = redirectionOf(response).parameters
    if (token !== undefined) this.accessTokens.push(token)
    if (code !== undefined) this.codes.push(code)
  }
}

interface Cast {
  readonly gains: Gains
  readonly doomed: Flow
  readonly other: Flow
}

/** Prepares an act of the process that is stopped, and returns the act. */
type Act = (cast: Cast) => Promise<() => Promise<void>>

const codeRequest = authorizationRequest(browserApp)
const tokenRequest = {
  ...codeRequest,
  response_type: 'token',
  code_challenge: undefined,
  code_challenge_method: undefined,
}

const decisionOn =
  (fields: Parameters<Flow['ask']>[0], ofOther: boolean): Act =>
  async ({ gains, doomed, other }) => {
    const page = await (ofOther ? other : doomed).ask(fields, gains.owner)
    return async () => gains.takeRedirect(await doomed.decide(page, 'approve', gains.owner))
  }

const acts: Readonly<Record<string, Act>> = {
  'a decision on its own page': decisionOn(codeRequest, false),
  'a decision on a page of the other process': decisionOn(codeRequest, true),
  'an implicit grant on a page of the other process': decisionOn(tokenRequest, true),
  'an approval without a page': async ({ gains, doomed }) => {
    const approved = doomed.behind({ 'X-Approved': 'yes' })
    return async () => gains.takeRedirect(await approved.ask(codeRequest, gains.owner))
  },
  'a refresh of an authorization from before': async ({ gains, doomed }) => {
    const { accessToken, refreshToken } = await earlier.flow.tokens(browserApp, {}, gains.owner)
    gains.accessTokens.push(accessToken)
    gains.refreshTokens.push(refreshToken)
    return async () => gains.takeTokens(await doomed.refresh(browserApp, refreshToken))
  },
  'a redemption of a code from before': async ({ gains, doomed }) => {
    const code = await earlier.flow.approve(browserApp, {}, gains.owner)
    gains.codes.push(code)
    return async () => gains.takeTokens(await doomed.redeem(browserApp, code))
  },
}

const points: readonly [Point, ...Point[]] = [
  { command: 'entry', before: 'arrival' },
  { command: 'entry', before: 'reply' },
  { command: 'record', before: 'arrival' },
  { command: 'record', before: 'reply' },
]
// The fifth act reads the record first.
const pointsAndRead: typeof points = [...points, { command: 'read', before: 'arrival' }]

/** Whether the index has no entry yet, so that only the mark can refuse it. */
const isEarly = ({ command, before }: Point) =>
  command === 'read' || (command === 'entry' && before === 'arrival')

/** Each act, stopped at another point each time. */
const casesAt = (stops: typeof points) =>
  Object.entries(acts).map(([name, act], turn) => ({
    name,
    act,
    point: stops[turn % stops.length] ?? stops[0],
    turn,
  }))
type Case = ReturnType<typeof casesAt>[number]

/** The stored texts of the authorizations that give an owner's clients something, by their ids. */
async function liveOf(owner: string): Promise<ReadonlyMap<string, string>> {
  const name = `${prefix}authorization:`
  const keys = (await Promise.all(client.nodes('master').map((node) => node.keys(`${name}*`)))).flat()
  const texts = await Promise.all(
    keys.map(async (key) => [key.slice(name.length), await client.get(key)] as const),
  )
  const live = new Map<string, string>()
  for (const [id, text] of texts) {
    // Empty is the mark of a removal.
    if (text === null || text === '') continue
    const { state, subject } = decodeAuthorization(id, text.slice(22))
    if (subject === owner && (state === 'approved' || state === 'active')) live.set(id, text)
  }
  return live
}

const listed = async (owner: string): Promise<ReadonlySet<string>> => {
  const { authorizations } = await host.oauth.authorizations.list(owner)
  return new Set(authorizations.map(({ authorizationId }) => authorizationId))
}

/** A stage on which the command of an act stops at a point. */
async function stopAt({ name, act, point, turn }: Case) {
  const [process, { server: second }] = turn % 2 === 0 ? processes : [processes[1], processes[0]]
  const gains = new Gains()
  const doomed = process.server.flow
  const go = await act({ gains, doomed, other: second.flow })
  const unlisted = await liveOf(gains.owner)
  // Another authorization of the owner, and a process that knows the time of Redis.
  gains.takeTokens(await doomed.redeem(photoPrint, await doomed.approve(photoPrint, {}, gains.owner)))
  let isStopped = false
  return {
    process,
    gains,
    unlisted,
    /** Acts until the command has stopped. @param atStop what then happens. */
    act: async (atStop: () => Promise<void>) => {
      const stopped = new Promise<void>((resolve) => {
        process.ways.stopAt(point, () => {
          isStopped = true
          resolve(atStop())
        })
      })
      const done = go()
      await Promise.race([stopped, done.catch(() => {})])
      expect({ name, point, isStopped }).toEqual({ name, point, isStopped: true })
      return { done }
    },
  }
}

// A busy machine makes Redis late, and a client then asks again.
const isAnswer = (outcome: string) => !outcome.includes('temporarily_unavailable') && outcome !== '503'
async function answerOf(ask: () => Promise<string>): Promise<string> {
  let outcome = await ask()
  for (let turn = 0; turn < 20 && !isAnswer(outcome); turn += 1) outcome = await ask()
  return outcome
}

/** No code and no token that an owner's clients have got is good for anything, in any process. */
async function expectNothingGood(one: Case, gains: Gains): Promise<void> {
  const { owner, codes, accessTokens, refreshTokens } = gains
  const flows = [...processes.map(({ server }) => server.flow), host.flow]
  const [some = host.flow] = flows
  const asks = [
    ...codes.map((code) => () => some.redeem(browserApp, code)),
    ...refreshTokens.flatMap((token) => [
      () => some.refresh(browserApp, token),
      () => some.refresh(photoPrint, token),
    ]),
  ]
  const refusals = await Promise.all(asks.map((ask) => answerOf(async () => outcomeOf(await ask()))))
  expect({ one: one.name, outcomes: new Set(refusals) }).toEqual({
    one: one.name,
    outcomes: new Set(['400 invalid_grant']),
  })
  const guarded = await Promise.all(
    accessTokens.flatMap((token) =>
      flows.map((flow) => answerOf(async () => String((await flow.photos(token)).status))),
    ),
  )
  expect({ one: one.name, guarded: new Set(guarded) }).toEqual({ one: one.name, guarded: new Set(['401']) })
  expect({ one: one.name, live: [...(await liveOf(owner)).keys()] }).toEqual({ one: one.name, live: [] })
}

test('a process that is killed at any step between index and record leaves every live authorization listed, and nothing that outlives revokeAll', async () => {
  for (const one of casesAt(points)) {
    const { process, gains, unlisted, act } = await stopAt(one)
    const { ways } = process
    const { done } = await act(() => process.server.kill())
    await done.catch(() => {})
    await process.server.kill()
    const late = ways.takeLate()
    ways.release()
    process.server = await start(ways)
    const live = await liveOf(gains.owner)
    const unlistedNow = [...live].filter(([id, text]) => unlisted.get(id) !== text).map(([id]) => id)
    expect([...(await listed(gains.owner))]).toEqual(expect.arrayContaining(unlistedNow))
    await host.oauth.authorizations.revokeAll(gains.owner)
    // What was on its way when the process died arrives now. What Redis refuses has no effect.
    await Promise.allSettled(late.map(([name = '', ...words]) => client.call(name, ...words)))
    await expectNothingGood(one, gains)
    expect([...(await listed(gains.owner))]).toEqual([])
  }
}, 600_000)

/** Waits until so many seconds have passed by the clocks of Redis. */
async function untilLater(seconds: number): Promise<void> {
  const times = () =>
    Promise.all(
      client.nodes('master').map(async (node) => {
        const [whole, micro] = await node.time()
        return Number(whole) + Number(micro) / 1e6
      }),
    )
  const begun = await times()
  await waitUntil('the clocks of Redis have moved on', async () =>
    (await times()).every((time, index) => time - (begun[index] ?? 0) >= seconds),
  )
}

// A process waits two seconds for Redis.
const almostTooLate = 1.5

test('what stops at any step of an approval while revokeAll runs, and then goes on, gives the client nothing', async () => {
  for (const one of casesAt(pointsAndRead)) {
    const { process, gains, act } = await stopAt(one)
    let overtaken = Promise.resolve()
    const overtake = async (): Promise<void> => {
      await host.oauth.authorizations.revokeAll(gains.owner)
      if (isEarly(one.point)) await untilLater(almostTooLate)
      process.ways.release()
    }
    const { done } = await act(() => (overtaken = overtake()))
    await overtaken
    await done
    await expectNothingGood(one, gains)
    expect([...(await listed(gains.owner))]).toEqual([])
  }
}, 600_000)
