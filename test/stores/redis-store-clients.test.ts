import { Redis } from 'ioredis'
import { redisStore } from '../../lib/stores/redis/redis-store'
import { startRedis, type RedisServer } from '../support/redis-server'
import { saveRecord, threeVersions } from '../../lib/testing/example-records'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

test('a client that answers numbers as text saves once, and a wrong revision is still refused', async () => {
  const client = new Redis(server.url, { stringNumbers: true })
  const store = redisStore({ client, prefix: 'text-numbers:' })
  const [first, second, third] = threeVersions()
  await expect(saveRecord(store, first)).resolves.toBe(true)
  await expect(saveRecord(store, second)).resolves.toBe(false)
  await expect(saveRecord(store, second, first)).resolves.toBe(true)
  await expect(saveRecord(store, third, first)).resolves.toBe(false)
  client.disconnect()
})

test('a client that answers something else than text rejects, and does not look like an empty store', async () => {
  const client = new Redis(server.url)
  const call = (command: string, ...words: string[]) => client.callBuffer(command, words)
  const store = redisStore({ client: { call }, prefix: 'buffers:' })
  const [first] = threeVersions()
  await saveRecord(store, first)
  await expect(store.find(first.authorization.id)).rejects.toThrow('something else than text')
  client.disconnect()
})

test('a client that answers a script with neither 0 nor 1 rejects, and does not pass for a conflict', async () => {
  const store = redisStore({ client: { call: async () => 'QUEUED' } })
  const [first, second] = threeVersions()
  await expect(saveRecord(store, first)).rejects.toThrow('something else than a whole number')
  await expect(saveRecord(store, second, first)).rejects.toThrow('something else than 0 or 1')
})
