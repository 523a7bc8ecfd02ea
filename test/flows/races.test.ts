import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { createLocalJWKSet, jwtVerify } from 'jose'
import type { Response } from 'supertest'
import {
  jwtAccessTokens,
  jwtBearer,
  memoryStore,
  redisStore,
  signingKeys,
  type AccessTokenClaims,
  type AuthorizationServerOptions,
  type AuthorizationStore,
  type RedisCommands,
} from '../../lib/index'
import { audience, claimsAt, hubOnCurve, issuers, jwt } from '../support/assertions/jwt'
import { Chance } from '../support/chance'
import { application, withoutLimits, type Application } from '../support/flows/application'
import { bent, photoFrame, photoPrint } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { deviceStage } from '../support/flows/device-stage'
import { authorizationRequest, type Flow } from '../support/flows/flow'
import { Gate } from '../support/flows/gate'
import { keySecret, partOf, withJwts } from '../support/flows/jwt-tokens'
import { outcomeOf } from '../support/flows/outcome'
import { codeOf } from '../support/flows/redirection'
import {
  gallery,
  job,
  mountResources,
  photosApi,
  printApi,
  reportsApi,
  withResources,
} from '../support/flows/resources'
import { claimsIn, signedFormat } from '../support/flows/signed-format'
import { tokensOf, type Tokens } from '../support/flows/tokens'
import { WaitingKeys } from './races/waiting-keys'
import { waitingStore } from './races/waiting-store'
import { waitUntil } from '../support/wait-until'
import { withRedis } from '../support/with-redis'

const many = 8

/** A store in which requests meet: once told so, none goes on before each of so many has read the record, or tries to write it. */
class MeetingStore implements AuthorizationStore {
  private readonly inner = memoryStore()
  private meeting = { awaited: 0, gate: new Gate() }

  /** The next requests, so many, begin together. */
  meet(awaited: number): void {
    this.meeting = { awaited, gate: new Gate() }
  }

  private async met(): Promise<void> {
    const { awaited, gate } = this.meeting
    if (gate.waiting >= awaited) return
    if (gate.waiting === awaited - 1) gate.open()
    await gate.pass()
  }

  find: AuthorizationStore['find'] = async (id) => {
    const found = await this.inner.find(id)
    await this.met()
    return found
  }

  // A server that wrote the record itself needs not read it.
  save: AuthorizationStore['save'] = async (...given) => {
    await this.met()
    return this.inner.save(...given)
  }

  remove: AuthorizationStore['remove'] = async (id) => {
    await this.met()
    await this.inner.remove(id)
  }
}

/** Two servers on one store in which requests meet. */
function twoServers(options: Partial<AuthorizationServerOptions> = {}) {
  const store = new MeetingStore()
  const both = [1, 2].map(() => application({ store, storeDeadline: 60, ...withoutLimits, ...options }))
  const flowAt = (index: number): Flow => {
    const { flow } = both[index % 2] ?? {}
    if (flow === undefined) throw new Error('There are two servers.')
    return flow
  }
  /** So many requests at once, at both servers in turn, all of which read the record before one of them writes. */
  const race = <T>(ask: (flow: Flow, index: number) => Promise<T>, times = many): Promise<T[]> => {
    store.meet(times)
    return Promise.all(Array.from({ length: times }, (_, index) => ask(flowAt(index), index)))
  }
  return { store, flow: flowAt(0), race }
}

const counted = (outcomes: readonly string[]) =>
  Object.fromEntries(
    [...new Set(outcomes)].map((each) => [each, outcomes.filter((other) => other === each).length]),
  )

describe('Of requests that read one record together, at two servers,', () => {
  test('one redemption of a code wins, and the others are replays, which end what it won', async () => {
    const { flow, race } = twoServers()
    const code = await flow.approve(photoPrint)
    const answers = await race((at) => at.redeem(photoPrint, code))
    expect(counted(answers.map(outcomeOf))).toEqual({ tokens: 1, '400 invalid_grant': many - 1 })
    const [won] = answers.filter(({ status }) => status === 200).map(tokensOf)
    expect((await flow.photos(won?.accessToken ?? '')).status).toBe(401)
    expect(outcomeOf(await flow.refresh(photoPrint, won?.refreshToken ?? ''))).toBe('400 invalid_grant')
  })

  test('all refreshes within the grace get the same tokens, and these are good', async () => {
    const { flow, race } = twoServers()
    const { refreshToken } = await flow.tokens(photoPrint)
    const answers = (await race((at) => at.refresh(photoPrint, refreshToken))).map(tokensOf)
    expect(new Set(answers.map((each) => `${each.accessToken} ${each.refreshToken}`)).size).toBe(1)
    expect((await flow.photos(answers[0]?.accessToken ?? '')).status).toBe(200)
    expect(outcomeOf(await flow.refresh(photoPrint, answers[0]?.refreshToken ?? ''))).toBe('tokens')
  })

  test('one refresh wins without a grace, and the others end the authorization', async () => {
    const { flow, race } = twoServers({ lifetimes: { refreshTokenGrace: 0 } })
    const { refreshToken } = await flow.tokens(photoPrint)
    const answers = await race((at) => at.refresh(photoPrint, refreshToken))
    expect(counted(answers.map(outcomeOf))).toEqual({ tokens: 1, '400 invalid_grant': many - 1 })
    const [won] = answers.filter(({ status }) => status === 200).map(tokensOf)
    expect((await flow.photos(won?.accessToken ?? '')).status).toBe(401)
  })

  test('either approvals or denials of a question win, and all of these are answered the same [consent-25]', async () => {
    const { flow, race } = twoServers()
    const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
    const decisions = ['approve', 'deny'] as const
    const answers = await race((at, index) => at.decide(page, decisions[index < 4 ? 0 : 1], 'alice'))
    const won = answers.map(outcomeOf).filter((outcome) => outcome.startsWith('redirect'))
    expect(new Set(won).size).toBe(1)
    expect(won).toHaveLength(many / 2)
    expect(new Set(answers.flatMap((answer) => answer.get('Location') ?? [])).size).toBe(1)
  })

  test('a revocation is never outlived by what a refresh brings', async () => {
    const { flow, race } = twoServers()
    const { refreshToken } = await flow.tokens(photoPrint)
    const answers = await race((at, index) =>
      index === 0 ? at.revoke(photoPrint, refreshToken) : at.refresh(photoPrint, refreshToken),
    )
    const [revoked, ...refreshed] = answers
    expect([revoked?.status, revoked?.text]).toEqual([200, '{}'])
    for (const { body } of refreshed)
      expect((await flow.photos(body.access_token ?? refreshToken)).status).toBe(401)
  })

  test('one owner gets the question of a device, and no other one', async () => {
    const store = new MeetingStore()
    const { enter, decide, poll } = await deviceStage(undefined, [], { store, storeDeadline: 60 })
    store.meet(many)
    const pages = await Promise.all(
      Array.from({ length: many }, (_, index) => enter(undefined, `owner-${index}`)),
    )
    const asked = pages.flatMap((page, index) =>
      page.status === 200 ? [{ page, owner: `owner-${index}` }] : [],
    )
    expect(asked).toHaveLength(1)
    for (const { page, owner } of asked) expect((await decide(page, 'approve', owner)).status).toBe(200)
    expect(outcomeOf(await poll())).toBe('tokens')
  })

  test('refreshes get what each asks for, and never what was not approved', async () => {
    const { flow, race } = twoServers(withResources({ defaultResource: photosApi }))
    const { refreshToken } = await flow.tokens(gallery, {
      scope: 'photos:read photos:print',
      resource: [photosApi, printApi],
    })
    const asked = [[photosApi], [printApi], [photosApi, printApi], [reportsApi]]
    const answers = await race((at, index) =>
      at.refresh(gallery, refreshToken, { resource: asked[index % 4] }),
    )
    const audiences = answers.map(async (answer) => {
      const outcome = outcomeOf(answer)
      return outcome === 'tokens'
        ? (await flow.introspect(job, tokensOf(answer).accessToken)).body.aud
        : outcome
    })
    const expected = [...asked.slice(0, 3), '400 invalid_target']
    expect(await Promise.all(audiences)).toEqual([...expected, ...expected])
  })
})

describe('A refresh token that is kept', () => {
  test('gives those that come one after the other a token each, and the newest 32 are good', async () => {
    const { flow } = twoServers({ refreshTokenRotation: false })
    const { refreshToken } = await flow.tokens(photoFrame)
    const tokens: string[] = []
    for (let index = 0; index < 34; index++)
      tokens.push(tokensOf(await flow.refresh(photoFrame, refreshToken)).accessToken)
    const statuses = await Promise.all(tokens.map(async (token) => (await flow.photos(token)).status))
    expect(statuses).toEqual([401, 401, ...Array.from({ length: 32 }, () => 200)])
  })
})

describe('While the signer of access tokens is slow,', () => {
  const signed = signedFormat('signed')

  /** A server whose signer waits for a gate, once the test has closed it. */
  function slowSigner() {
    const written: AccessTokenClaims[] = []
    const at: { gate?: Gate } = {}
    const encode = async (claims: AccessTokenClaims) => {
      written.push(claims)
      await at.gate?.pass()
      return signed.encode(claims)
    }
    const { read: clock } = new Clock()
    const format = { ...signed, encode }
    const { flow } = application({ store: memoryStore({ clock }), clock, accessTokenFormats: [format] })
    const close = () => (at.gate = new Gate())
    const waiting = (gate: Gate, times: number) =>
      waitUntil(`${times} wait for the signer`, async () => gate.waiting === times, 20)
    /** The statuses of all tokens that were ever written. */
    const statuses = async () =>
      Promise.all(written.map(async (claims) => (await flow.photos(await signed.encode(claims))).status))
    return { flow, written, close, waiting, statuses }
  }

  test('two refreshes end with the same tokens, and what one of them had written before is nowhere', async () => {
    const { flow, written, close, waiting } = slowSigner()
    const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
    const gate = close()
    const both = [1, 2].map(() => flow.refresh(photoPrint, body.refresh_token))
    await waiting(gate, 2)
    gate.open()
    const [first, second] = await Promise.all(both)
    expect([first?.status, second?.body]).toEqual([200, first?.body])
    const { tokenId } = claimsIn(first?.body.access_token)
    const lost = written.slice(1).filter((claims) => claims.tokenId !== tokenId)
    expect(lost).toHaveLength(1)
    for (const claims of lost) expect((await flow.photos(await signed.encode(claims))).status).toBe(401)
    expect((await flow.photos(first?.body.access_token)).status).toBe(200)
  })

  test('a revocation wins: the refresh gives nothing', async () => {
    const { flow, close, waiting, statuses } = slowSigner()
    const { body } = await flow.redeem(photoPrint, await flow.approve(photoPrint))
    const gate = close()
    const slow = flow.refresh(photoPrint, body.refresh_token)
    await waiting(gate, 1)
    await flow.revoke(photoPrint, body.refresh_token)
    gate.open()
    expect(outcomeOf(await slow)).toBe('400 invalid_grant')
    expect(new Set(await statuses())).toEqual(new Set([401]))
  })

  test('of two redemptions one wins, and the other is a replay, which ends it', async () => {
    const { flow, close, waiting, statuses } = slowSigner()
    const code = await flow.approve(photoPrint)
    const gate = close()
    const both = [1, 2].map(() => flow.redeem(photoPrint, code))
    await waiting(gate, 2)
    gate.open()
    expect((await Promise.all(both)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 400,
    ])
    expect(new Set(await statuses())).toEqual(new Set([401]))
  })

  test('whoever insists gets the same tokens, however often the signer fails and whatever comes first', async () => {
    const chance = new Chance(38)
    const encode = async (claims: AccessTokenClaims) => {
      for (let turns = chance.below(12); turns > 0; turns--) await setImmediate()
      if (chance.below(3) === 0) throw new Error('The signer is gone.')
      return signed.encode(claims)
    }
    for (let round = 0; round < 5; round++) {
      const { read: clock } = new Clock()
      const store = waitingStore(memoryStore({ clock }), chance)
      const { flow } = application({ store, clock, accessTokenFormats: [{ ...signed, encode }] })
      const code = await flow.approve(photoPrint)
      const { body } = await insist(() => flow.redeem(photoPrint, code))
      const all = await Promise.all(
        [1, 2, 3].map(() => insist(() => flow.refresh(photoPrint, body.refresh_token))),
      )
      expect(all.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(new Set(all.map(({ text }) => text)).size).toBe(1)
    }
  })
})

/** Asks again as long as the server has failed. */
async function insist<Answer extends { readonly status: number }>(
  ask: () => PromiseLike<Answer>,
): Promise<Answer> {
  const answer = await ask()
  return answer.status === 500 ? insist(ask) : answer
}

describe('Two processes that rotate their signing keys', () => {
  const hour = 3600
  const kidOf = (token: string) => String(partOf(token, 0)['kid'])

  function twoSigners() {
    const clock = new Clock()
    const store = Object.assign(memoryStore({ clock: clock.read }), { keys: new WaitingKeys() })
    const processes = [0, 1].map(() => {
      const keys = signingKeys({ secrets: [keySecret], rotateAfter: hour })
      const plugIns = [keys, jwtAccessTokens({ keys })]
      return application(withJwts({ store, clock: clock.read, plugIns }), { mount: mountResources })
    })
    return { clock, processes }
  }

  async function tokenOf({ flow }: Application): Promise<string> {
    const fields = { grant_type: 'client_credentials', scope: 'reports:write', resource: reportsApi }
    return tokenIn(await flow.request(job, fields))
  }
  const tokenIn = ({ body }: { readonly body: { readonly access_token?: unknown } }) =>
    String(body.access_token)

  /** A verifier elsewhere, which keeps the keys for ten minutes, and whose clock differs. */
  function verifier({ flow }: Application, clock: Clock, skew: number) {
    let cached: { readonly keys: ReturnType<typeof createLocalJWKSet>; readonly at: number } | undefined
    return async (token: string): Promise<void> => {
      const now = clock.read() / 1000
      if (cached === undefined || now - cached.at >= 600)
        cached = { keys: createLocalJWKSet((await flow.open('/.well-known/jwks.json')).body), at: now }
      const currentDate = new Date((now + skew) * 1000)
      await jwtVerify(token, cached.keys, {
        currentDate,
        clockTolerance: Math.abs(skew),
        audience: reportsApi,
      })
    }
  }

  test('share the first key, however many ask at once', async () => {
    const { processes } = twoSigners()
    const tokens = await Promise.all(
      Array.from({ length: 16 }, (_, index) => Promise.all(processes.slice(index % 2).map(tokenOf))),
    )
    expect(new Set(tokens.flat().map(kidOf)).size).toBe(1)
  })

  test('issue no token that a verifier with a cache and a clock of its own refuses, through three rotations', async () => {
    const { clock, processes } = twoSigners()
    const verifiers = processes.map((served, index) => verifier(served, clock, index === 0 ? -300 : 300))
    const kids = new Set<string>()
    for (let step = 0; step < 4 * 15; step++) {
      clock.advance(240)
      for (const token of await Promise.all(processes.map(tokenOf))) {
        kids.add(kidOf(token))
        for (const verify of verifiers) await verify(token)
      }
    }
    expect(kids.size).toBe(4)
  })
})

describe('When the reply of a removal is lost,', () => {
  /** A server whose store once removes without saying so, and the events of ends that it tells. */
  function losing() {
    const inner = memoryStore()
    const lost = { replies: 0 }
    const remove = async (id: string) => {
      await inner.remove(id)
      if (lost.replies-- > 0) throw new Error('Connection is closed.')
    }
    const store = { find: inner.find.bind(inner), save: inner.save.bind(inner), remove }
    const { flow, oauth } = application({ store, lifetimes: { refreshTokenGrace: 0 } })
    const ends: string[] = []
    for (const end of ['replayed', 'reused', 'revoked'] as const) oauth.events.on(end, () => ends.push(end))
    return { flow, ends, loseNext: () => (lost.replies = 1) }
  }

  test.each<[string, string, (flow: Flow) => Promise<() => Promise<Response>>]>([
    [
      'replayed',
      '400 invalid_grant',
      async (flow) => {
        const code = await flow.approve(photoPrint)
        tokensOf(await flow.redeem(photoPrint, code))
        return () => flow.redeem(photoPrint, code)
      },
    ],
    [
      'reused',
      '400 invalid_grant',
      async (flow) => {
        const { refreshToken } = await flow.tokens(photoPrint)
        tokensOf(await flow.refresh(photoPrint, refreshToken))
        return () => flow.refresh(photoPrint, refreshToken)
      },
    ],
    [
      'revoked',
      'done',
      async (flow) => {
        const { accessToken } = await flow.tokens(photoPrint)
        return () => flow.revoke(photoPrint, accessToken)
      },
    ],
  ])('%s is told all the same, and the answer is no other one', async (end, outcome, prepare) => {
    const { flow, ends, loseNext } = losing()
    const present = await prepare(flow)
    loseNext()
    expect(outcomeOf(await present())).toBe(outcome)
    expect(ends).toEqual([...new Set([end, 'revoked'])])
  })
})

test('No token of a client outlives its revocation, whatever races with it', async () => {
  const chance = new Chance(38)
  let obtained = 0
  for (let round = 0; round < 2; round++) {
    const clock = new Clock()
    const memory = memoryStore({ clock: clock.read })
    const store = Object.assign(waitingStore(memory, chance), { index: memory.index })
    // The clock of the second server is up to 4 seconds ahead.
    const ahead = chance.below(5) * 1000
    const servers = [clock.read, () => clock.read() + ahead].map((time) =>
      application({ store, clock: time, authorizations: true, ...withoutLimits }),
    )
    const racing = Array.from({ length: 4 }, () => getTokens(() => chance.any(servers).flow))
    for (let turns = chance.below(400); turns > 0; turns--) await setImmediate()
    await servers[0]?.oauth.authorizations.revokeClient('photo-print')
    const tokens = (await Promise.all(racing)).flat()
    obtained += tokens.length
    clock.advance(1)
    for (const { flow } of servers)
      for (const { accessToken, refreshToken } of tokens) {
        expect((await flow.photos(accessToken)).status).toBe(401)
        expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
      }
  }
  expect(obtained).toBeGreaterThan(0)
})

/** Gets tokens and refreshes them, each step at either server, until a step is refused. */
async function getTokens(flowOf: () => Flow): Promise<readonly Tokens[]> {
  const page = await flowOf().ask(authorizationRequest(photoPrint), 'alice')
  const decided = await flowOf().decide(page, 'approve', 'alice')
  if (outcomeOf(decided) !== 'redirect code') return []
  let answer = await flowOf().redeem(photoPrint, codeOf(decided))
  const found: Tokens[] = []
  for (let refreshes = 0; outcomeOf(answer) === 'tokens' && refreshes < 3; refreshes++) {
    const tokens = tokensOf(answer)
    found.push(tokens)
    answer = await flowOf().refresh(photoPrint, tokens.refreshToken)
  }
  return found
}

describe('An assertion, presented to two servers whose writes to Redis fail in every way,', () => {
  let redis: Redis
  withRedis(({ client }) => {
    redis = client
  })

  const grantType = jwtBearer({ issuers, audience, resourceOwner: () => 'alice' })
  const desk = bent(photoPrint, { grant_types: [grantType.name] })
  const fates = ['carried out', 'never sent', 'its reply gets lost', 'sent too late'] as const

  /** A way to Redis on which the next writes meet these fates. */
  class FatefulWay implements RedisCommands {
    fates: (typeof fates)[number][] = []
    private readonly late: (() => Promise<unknown>)[] = []

    async call(command: string, ...words: string[]): Promise<unknown> {
      const send = (): Promise<unknown> => redis.call(command, ...words)
      const fate = command.startsWith('EVAL') || command === 'SET' ? this.fates.shift() : undefined
      if (fate === undefined || fate === 'carried out') return send()
      if (fate === 'its reply gets lost') await send()
      if (fate === 'sent too late') this.late.push(send)
      throw new Error('Connection is closed.')
    }

    /** What was held up arrives. */
    async arrive(): Promise<void> {
      this.fates = []
      for (const send of this.late.splice(0)) await send()
    }
  }

  /** What a client hears that tries again as long as the answer is trouble. */
  async function present(flow: Flow, assertion: string): Promise<string[]> {
    const fields = { grant_type: grantType.name, assertion, scope: 'photos:read' }
    const outcome = outcomeOf(await flow.request(desk, fields))
    const isTrouble = outcome === '400 temporarily_unavailable'
    return [outcome, ...(isTrouble ? await present(flow, assertion) : [])]
  }

  test('gives one token at most, and is used up only by an authorization that began', async () => {
    const chance = new Chance(16)
    const prefix = `once:${randomUUID()}:`
    const servers = [1, 2].map(() => {
      const way = new FatefulWay()
      const store = redisStore({ client: way, prefix })
      const options = { store, grantTypes: [grantType], clients: [desk.registration], ...withoutLimits }
      return { way, flow: application(options).flow }
    })
    const heard = new Set<string>()
    for (let round = 0; round < 10; round++) {
      const assertion = jwt(hubOnCurve, claimsAt(Math.floor(Date.now() / 1000), hubOnCurve))
      for (const { way } of servers)
        way.fates = Array.from({ length: chance.below(6) }, () => chance.among(fates))
      const answers = await Promise.all([...servers, ...servers].map(({ flow }) => present(flow, assertion)))
      for (const { way } of servers) await way.arrive()
      for (const { flow } of servers) answers.push(await present(flow, assertion))
      for (const answer of answers.flat()) heard.add(answer)
      expect(answers.flat().filter((answer) => answer === 'tokens').length).toBeLessThanOrEqual(1)
      // The last answer was a refusal, and there is what used the assertion up: one authorization.
      expect(answers.at(-1)).toEqual(['400 invalid_grant'])
      expect(await redis.keys(`${prefix}authorization:*`)).toHaveLength(round + 1)
    }
    expect(heard).toEqual(new Set(['400 invalid_grant', '400 temporarily_unavailable', 'tokens']))
  })
})
