import { connect, createServer, type AddressInfo, type Server } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { redisStore } from '../../lib/index'
import { createId, secureRandom } from '../../lib/protocol/credential'
import { withRedis } from '../support/with-redis'

let redisPort = 0
withRedis(({ server }) => void (redisPort = server.port))

/** A proxy before Redis that counts what it is sent at once. */
async function counting(): Promise<{
  readonly url: string
  readonly packets: () => number
  readonly proxy: Server
}> {
  let packets = 0
  const proxy = createServer((client) => {
    const redis = connect(redisPort, '127.0.0.1')
    client.on('data', () => (packets += 1)).pipe(redis)
    redis.pipe(client)
    for (const socket of [client, redis]) socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port }: Pick<AddressInfo, 'port'> = Object.assign({ port: 0 }, proxy.address())
  return { url: `redis://127.0.0.1:${port}`, packets: () => packets, proxy }
}

test('what one turn asks of Redis goes out in one packet, and each turn in its own', async () => {
  const { url, packets, proxy } = await counting()
  const store = redisStore({ url })
  const find = () => store.find(createId(secureRandom))
  await find()
  const before = packets()
  await Promise.all(Array.from({ length: 50 }, find))
  expect(packets() - before).toBe(1)
  const first = find()
  await nextTurn()
  await nextTurn()
  await Promise.all([first, find()])
  expect(packets() - before).toBe(3)
  await store.close()
  proxy.close()
})
