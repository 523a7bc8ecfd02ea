import { Cluster, Redis } from 'ioredis'
import { describeAddress } from '../../lib/stores/redis/connection'

const secret = 'hunter2'
const lazy = { lazyConnect: true }

describe('the place of Redis, as messages say it', () => {
  it.each<[string, object]>([
    ['Redis at redis.example:6380', new Redis(`rediss://admin:${secret}@redis.example:6380/3`, lazy)],
    ['Redis at localhost:6379', new Redis({ ...lazy, password: secret })],
    ['Redis at /run/redis.sock', new Redis({ ...lazy, path: '/run/redis.sock', password: secret })],
    [
      'Redis tokens behind the sentinels a:26379, b:6379',
      new Redis({
        ...lazy,
        name: 'tokens',
        sentinels: [{ host: 'a', port: 26_379 }, { host: 'b' }],
        sentinelPassword: secret,
      }),
    ],
    [
      'Redis Cluster at a:7000, b:7001, localhost:7002',
      new Cluster([{ host: 'a', port: 7000 }, `redis://:${secret}@b:7001`, 7002], lazy),
    ],
    ['Redis', { call: async () => null }],
    ['Redis', { call: async () => null, options: { socket: { host: 'a' }, password: secret } }],
  ])('is %s', (place, client) => {
    expect(describeAddress(client)).toBe(place)
  })
})
