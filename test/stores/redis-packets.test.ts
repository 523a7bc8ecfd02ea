import { setImmediate as nextTurn } from 'node:timers/promises'
import { redisStore } from '../../lib/index'
import { createId, secureRandom } from '../../lib/protocol/credential'
import { startRedisProxy } from '../support/stores/redis-proxy'
import { withRedis } from '../support/with-redis'

let redisPort = 0
withRedis(({ server }) => void (redisPort = server.port))

test('what one turn asks of Redis goes out in one packet, and each turn in its own', async () => {
  let packets = 0
  const proxy = await startRedisProxy(redisPort, () => ({ sent: () => void (packets += 1) }))
  const store = redisStore({ url: proxy.url })
  const find = () => store.find(createId(secureRandom))
  await find()
  const before = packets
  await Promise.all(Array.from({ length: 50 }, find))
  expect(packets - before).toBe(1)
  const first = find()
  await nextTurn()
  await nextTurn()
  await Promise.all([first, find()])
  expect(packets - before).toBe(3)
  await store.close()
  await proxy.stop()
})
