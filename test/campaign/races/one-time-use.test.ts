import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { jwtBearer, redisStore, type RedisCommands } from '../../../lib/index'
import { audience, claimsAt, hub, issuers, jwt } from '../../support/assertions/jwt'
import { application } from '../../support/flows/application'
import { bent, photoPrint } from '../../support/flows/clients'
import type { Flow } from '../../support/flows/flow'
import { withRedis } from '../../support/with-redis'
import { Chance } from '../../support/races/chance'

const grantType = jwtBearer({ issuers, audience, resourceOwner: () => 'alice' })
const desk = bent(photoPrint, { grant_types: [grantType.name] })
const prefix = `once:${randomUUID()}:`

/** What becomes of a write on its way to Redis. */
type Fate = 'carried out' | 'never sent' | 'its reply gets lost' | 'sent too late'

/** A way to Redis on which the writes of a round meet fates, until there is none left. */
class FatefulWay implements RedisCommands {
  fates: Fate[] = []
  private readonly late: (() => Promise<unknown>)[] = []

  constructor(private readonly redis: Redis) {}

  async call(command: string, ...words: string[]): Promise<unknown> {
    const send = (): Promise<unknown> => this.redis.call(command, ...words)
    const fate = command.startsWith('EVAL') || command === 'SET' ? this.fates.shift() : undefined
    if (fate === undefined || fate === 'carried out') return send()
    if (fate === 'its reply gets lost') await send()
    if (fate === 'sent too late') this.late.push(send)
    throw new Error('Connection is closed.')
  }

  /** What was held up arrives. */
  async arrive(): Promise<void> {
    for (const send of this.late.splice(0)) await send()
  }
}

/** A server with a way of its own to Redis. */
function start(redis: Redis) {
  const way = new FatefulWay(redis)
  const store = redisStore({ client: way, prefix })
  const always = { storeDeadline: 10, limits: { networks: false } } as const
  const { flow } = application({ store, grantTypes: [grantType], clients: [desk.registration], ...always })
  return { flow, way }
}

/** Presents an assertion as a client does that tries again as long as the answer is trouble. */
async function present(flow: Flow, assertion: string): Promise<string[]> {
  const fields = { grant_type: grantType.name, assertion, scope: 'photos:read' }
  const { status, body } = await flow.request(desk, fields)
  const answer = status === 200 ? 'token' : String(body.error)
  return answer === 'temporarily_unavailable' ? [answer, ...(await present(flow, assertion))] : [answer]
}

describe('Assertions, presented in parallel to two servers whose writes fail in every way', () => {
  let redis: Redis
  withRedis(({ client }) => {
    redis = client
  })

  test('give one token each at most, and are used up only by an authorization that began', async () => {
    const servers = [start(redis), start(redis)]
    const chance = new Chance(16)
    const recorded = new Set<string>()
    for (let round = 0; round < 80; round++) {
      const assertion = jwt(hub, claimsAt(Math.floor(Date.now() / 1000)))
      for (const { way } of servers)
        way.fates = Array.from({ length: chance.below(6) }, () =>
          chance.among<Fate>(['carried out', 'never sent', 'its reply gets lost', 'sent too late']),
        )
      const answers = await Promise.all([...servers, ...servers].map(({ flow }) => present(flow, assertion)))
      for (const { way } of servers) {
        way.fates = []
        await way.arrive()
      }
      for (const { flow } of servers) answers.push(await present(flow, assertion))
      for (const answer of answers.flat()) recorded.add(answer)
      expect(answers.flat().filter((answer) => answer === 'token').length).toBeLessThanOrEqual(1)
      // The last answer was a refusal, and there is what used the assertion up: one authorization.
      expect(answers.at(-1)).toEqual(['invalid_grant'])
      expect(await redis.keys(`${prefix}authorization:*`)).toHaveLength(round + 1)
    }
    expect([...recorded].toSorted()).toEqual(['invalid_grant', 'temporarily_unavailable', 'token'])
  })
})
