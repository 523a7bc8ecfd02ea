import type { Redis } from 'ioredis'
import { redisStore } from '../../../lib/paths/redis'
import { application } from '../../support/flows/application'
import { nightlyReport, photoPrint } from '../../support/flows/clients'
import { authorizationRequest } from '../../support/flows/flow'
import { codeOf } from '../../support/flows/redirection'
import { tokensOf } from '../../support/flows/tokens'
import { uniquePrefix } from '../../support/stores/redis-under-test'
import { withRedis } from '../../support/with-redis'

let redis: Redis
withRedis(({ client }) => void (redis = client))

/** A server on a Redis, and the bytes of the only authorization there. */
function stage() {
  const prefix = uniquePrefix()
  const { flow } = application({ storeDeadline: 10, store: redisStore({ client: redis, prefix }) })
  const keys = () => redis.keys(`${prefix}authorization:*`)
  const weigh = async (state: string): Promise<number> => {
    const [key = '', ...more] = await keys()
    const size = Number(await redis.memory('USAGE', key))
    expect({ state, more, fits: size > 100 && size < 4096 }).toEqual({ state, more: [], fits: true })
    return size
  }
  return { flow, keys, weigh }
}

test('an authorization is one key of less than 4 KiB, however often it is refreshed', async () => {
  const machine = stage()
  await machine.flow.request(nightlyReport, { grant_type: 'client_credentials', scope: 'photos:read' })
  await machine.weigh('active, without a refresh token')

  const { flow, keys, weigh } = stage()
  const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
  await weigh('pending')
  const code = codeOf(await flow.decide(page, 'approve', 'alice'))
  await weigh('approved')
  let { refreshToken } = tokensOf(await flow.redeem(photoPrint, code))
  const sizes: number[] = []
  for (let refreshes = 0; refreshes <= 50; refreshes++) {
    sizes.push(await weigh(`active, after ${refreshes} refreshes`))
    refreshToken = tokensOf(await flow.refresh(photoPrint, refreshToken)).refreshToken
  }
  // 32 access tokens live at most: from then on it does not grow.
  expect(sizes[50]).toBe(sizes[40])
  await flow.revoke(photoPrint, refreshToken)
  // The mark of the removal is the only trace.
  const [mark = '', ...more] = await keys()
  expect([await redis.get(mark), more]).toEqual(['', []])
})
