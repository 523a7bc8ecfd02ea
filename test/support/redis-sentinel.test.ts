import { Redis } from 'ioredis'
import { startRedisSentinel, type RedisSentinel } from './redis-sentinel'
import { waitUntil } from './wait-until'

describe('a Redis sentinel', () => {
  let redis: RedisSentinel
  let client: Redis
  beforeAll(async () => {
    redis = await startRedisSentinel()
    client = new Redis({ sentinels: [redis.sentinel], name: redis.masterName })
    client.on('error', () => {})
  })
  afterAll(async () => {
    client.disconnect()
    await redis.stop()
  })

  async function reaches(port: number): Promise<boolean> {
    const answer = await client.info('server').catch(() => '')
    return answer.includes(`tcp_port:${port}`)
  }

  test('leads to the master', async () => {
    expect(await reaches(redis.master.port)).toBe(true)
    expect((await client.role())[0]).toBe('master')
  })

  test('leads to the replica once the master is dead', async () => {
    await redis.master.kill('SIGKILL')
    await waitUntil('the replica has taken over', () => reaches(redis.replica.port))
    expect((await client.role())[0]).toBe('master')
  })
})
