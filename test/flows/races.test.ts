import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Response } from 'supertest'
import {
  memoryStore,
  type AccessTokenClaims,
  type AuthorizationServerOptions,
  type Store,
} from '../../lib/index'
import { jwtBearer } from '../../lib/paths/grants'
import { redisStore, type RedisCommands } from '../../lib/paths/redis'
import { audience, claimsAt, hubOnCurve, issuers, jwt } from '../support/assertions/jwt'
import { Chance } from '../support/chance'
import { application, withoutLimits } from '../support/flows/application'
import { bent, photoPrint } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { deviceStage } from '../support/flows/device-stage'
import { authorizationRequest, type Flow } from '../support/flows/flow'
import { Gate } from '../support/flows/gate'
import { outcomeOf } from '../support/flows/outcome'
import { gallery, job, photosApi, printApi, reportsApi, withResources } from '../support/flows/resources'
import { claimsIn, signedFormat } from '../support/flows/signed-format'
import { tokensOf } from '../support/flows/tokens'
import { but } from '../support/stores/but'
import { waitUntil } from '../support/wait-until'
import { withRedis } from '../support/with-redis'
import { grantTypeOf } from '../support/grant-type-of'

const many = 8

/** A store in which requests meet: once told so, none goes on before each of so many has read the record, or tries to write it. */
class MeetingStore implements Store {
  private readonly inner = memoryStore()
  private meeting = { awaited: 0, gate: new Gate() }

  /** The next requests, so many, begin together. */
  meet(awaited: number): void {
    this.meeting = { awaited, gate: new Gate() }
  }

  private async met(key: string): Promise<void> {
    if (!key.startsWith('authorization:')) return
    const { awaited, gate } = this.meeting
    if (gate.waiting >= awaited) return
    if (gate.waiting === awaited - 1) gate.open()
    await gate.pass()
  }

  read: Store['read'] = async (key) => {
    const found = await this.inner.read(key)
    await this.met(key)
    return found
  }

  // A server that wrote the record itself needs not read it.
  write: Store['write'] = async (key, ...words) => {
    await this.met(key)
    return this.inner.write(key, ...words)
  }

  remove: Store['remove'] = async (key) => {
    await this.met(key)
    await this.inner.remove(key)
  }

  add: Store['add'] = (...words) => this.inner.add(...words)

  list: Store['list'] = (kind) => this.inner.list(kind)
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

describe('Of requests that read one record together, at two servers,', () => {
  test('all refreshes within the grace get the same tokens, and these are good', async () => {
    const { flow, race } = twoServers()
    const { refreshToken } = await flow.tokens(photoPrint)
    const answers = (await race((at) => at.refresh(photoPrint, refreshToken))).map(tokensOf)
    expect(new Set(answers.map((each) => `${each.accessToken} ${each.refreshToken}`)).size).toBe(1)
    expect((await flow.photos(answers[0]?.accessToken ?? '')).status).toBe(200)
    expect(outcomeOf(await flow.refresh(photoPrint, answers[0]?.refreshToken ?? ''))).toBe('tokens')
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
    const { flow } = application({
      store: memoryStore({ clock }),
      clock,
      plugins: [{ name: 'host-formats', accessTokenFormats: [format] }],
    })
    const close = () => (at.gate = new Gate())
    const waiting = (gate: Gate, times: number) =>
      waitUntil(`${times} wait for the signer`, async () => gate.waiting === times, 20)
    return { flow, written, close, waiting }
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
})

describe('When the reply of a removal is lost,', () => {
  /** A server whose store once removes without saying so, and the events of ends that it tells. */
  function losing() {
    const inner = memoryStore()
    const lost = { replies: 0 }
    const remove = async (key: string) => {
      await inner.remove(key)
      if (lost.replies-- > 0) throw new Error('Connection is closed.')
    }
    const store = but(inner, { remove })
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

describe('An assertion, presented to two servers whose writes to Redis fail in every way,', () => {
  let redis: Redis
  withRedis(({ client }) => {
    redis = client
  })

  const grantType = jwtBearer({ issuers, audience, resourceOwner: () => 'alice' })
  const desk = bent(photoPrint, { grant_types: [grantTypeOf(grantType)] })
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
    const fields = { grant_type: grantTypeOf(grantType), assertion, scope: 'photos:read' }
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
      const options = { store, plugins: [grantType], clients: [desk.registration], ...withoutLimits }
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
