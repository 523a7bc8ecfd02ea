import { randomUUID } from 'node:crypto'
import { extent } from '../support/extent'
import { photoFrame } from '../support/flows/clients'
import { outcomeOf } from '../support/flows/outcome'
import { type ServerProcess, startServer } from '../support/flows/start-server'
import { startRedisCluster, type RedisCluster } from '../support/redis-cluster'

let cluster: RedisCluster
let servers: ServerProcess[] = []

beforeAll(async () => {
  cluster = await startRedisCluster()
  const prefix = `kept:${randomUUID()}:`
  const plan = { redis: { cluster: cluster.nodes }, prefix, refreshTokenRotation: false }
  servers = await Promise.all([startServer(plan), startServer(plan)])
}, 60_000)
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()))
  await cluster.stop()
})

const flowAt = (index: number) => {
  const server = servers[index % servers.length]
  if (server === undefined) throw new Error('There is no server.')
  return server.flow
}

// More than 32 live access tokens would end the oldest one of a record.
const mostTokens = 32

test('64 refreshes at once with one kept token, from two processes on a cluster, all get a token that is good', async () => {
  const { refreshToken } = await flowAt(0).tokens(photoFrame)
  for (let round = 0; round < extent(1, 30); round++) {
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) => flowAt(index).refresh(photoFrame, refreshToken)),
    )
    expect(new Set(answers.map(outcomeOf))).toEqual(new Set(['tokens']))
    expect(new Set(answers.map(({ body }) => body.refresh_token))).toEqual(new Set([refreshToken]))
    const tokens = [...new Set(answers.map(({ body }) => String(body.access_token)))]
    expect(tokens.length).toBeLessThan(mostTokens)
    for (const token of tokens) expect((await flowAt(0).photos(token)).status).toBe(200)
  }
}, 120_000)
