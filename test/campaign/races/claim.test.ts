import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Authorization } from '../../../lib/authorization/authorization'
import { begin, commit } from '../../../lib/authorization/commit'
import { claim } from '../../../lib/authorization/claim'
import { redisStore } from '../../../lib/index'
import { secureRandom } from '../../../lib/protocol/credential'
import { proposal, unclaimedAuthorization } from '../../support/authorization/authorization'
import { context } from '../../support/authorization/issue-context'
import { withRedis } from '../../support/with-redis'

describe('A request that waits for its owner', () => {
  let redis: Redis
  withRedis(({ client }) => {
    redis = client
  })

  test('belongs to one of any number of owners who claim it at once', async () => {
    const at = context({ now: Math.floor(Date.now() / 1000), random: secureRandom })
    const { unclaimed, handle } = unclaimedAuthorization(at)
    const stores = [1, 2].map(() => redisStore({ client: redis, prefix }))
    const [first] = stores
    if (first === undefined) throw new Error('There is no store.')
    await begin(first, unclaimed, secureRandom)
    const claims = Array.from({ length: 32 }, async (_, index) => {
      const store = stores[index % stores.length] ?? first
      const subject = `owner-${index}`
      const transition = (current: Authorization | undefined) =>
        claim(current, handle, { ...proposal, subject }, at)
      return commit(store, unclaimed.id, transition, secureRandom).then(
        ({ pending }) => pending.subject,
        ({ reason }: { reason?: string }) => reason ?? 'broken',
      )
    })
    const outcomes = await Promise.all(claims)
    const winners = outcomes.filter((outcome) => outcome.startsWith('owner-'))
    expect(winners).toHaveLength(1)
    expect(new Set(outcomes)).toEqual(new Set([...winners, 'authorization_request_of_another_owner']))
    expect((await first.find(unclaimed.id))?.authorization).toMatchObject({ subject: winners[0] })
  })

  const prefix = `claim:${randomUUID()}:`
})
