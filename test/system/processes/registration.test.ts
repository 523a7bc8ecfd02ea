import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import request, { type Response } from 'supertest'
import { codeChallenge, codeVerifier } from '../../support/flows/proof-key'
import { codeOf } from '../../support/flows/redirection'
import { notesApp } from '../../support/flows/registering'
import { type ServerProcess, startServer } from '../../support/flows/start-server'
import { startRedisCluster, type RedisCluster } from '../../support/redis-cluster'

let cluster: RedisCluster
let servers: ServerProcess[] = []
let prefix: string

beforeAll(async () => {
  cluster = await startRedisCluster()
})
afterAll(() => cluster.stop())
afterEach(() => Promise.all(servers.map((server) => server.kill())))

/** Two processes on one cluster. */
async function startTwo(maximumClients: number): Promise<void> {
  prefix = `registration:${randomUUID()}:`
  const plan = { redis: { cluster: cluster.nodes }, prefix, maximumClients }
  servers = await Promise.all([startServer(plan), startServer(plan)])
}

/** The URL of one process and the other in turn. */
const urlAt = (index: number) => servers[index % servers.length]?.url ?? ''

const register = (index: number, client_name: string): Promise<Response> =>
  Promise.resolve(
    request(urlAt(index))
      .post('/register')
      .send({ ...notesApp, client_name }),
  )

/** The registrations that the cluster holds. */
async function held(): Promise<number> {
  const counts = cluster.servers.map(async ({ url }) => {
    const master = new Redis(url)
    const keys = await master.keys(`${prefix}{dynamic-clients}:*`)
    master.disconnect()
    return keys.length
  })
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}

/** An owner approves a request of the client, which gets tokens. */
async function use(index: number, { body }: Response): Promise<Response> {
  const flow = servers[index % servers.length]?.flow
  if (flow === undefined) throw new Error('There is no server.')
  const client = { client_id: body.client_id, redirect_uri: body.redirect_uris[0] }
  const proof = { code_challenge: codeChallenge, code_challenge_method: 'S256' }
  const asked = { response_type: 'code', scope: 'photos:read', ...client, ...proof }
  const code = codeOf(await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice'))
  const fields = { grant_type: 'authorization_code', code, code_verifier: codeVerifier, ...client }
  return flow.submit('/token', fields)
}

test('64 equal registrations at once from two processes on a cluster are one client', async () => {
  await startTwo(100)
  const answers = await Promise.all(Array.from({ length: 64 }, (_, index) => register(index, 'Notes')))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(await held()).toBe(1)
})

test('the ceiling holds under many different registrations, and no client in use is lost [registration-1, registration-2]', async () => {
  const [attempts, ceiling, inUse] = [400, 100, 10]
  await startTwo(ceiling)
  const users: { readonly client: Response; refreshToken: string }[] = []
  for (let index = 0; index < inUse; index++) {
    const client = await register(index, `In use ${index}`)
    const tokens = await use(index, client)
    users.push({ client, refreshToken: tokens.body.refresh_token })
  }
  const statuses: number[] = []
  let next = 0
  const stranger = async () => {
    while (next < attempts) {
      const index = next++
      statuses.push((await register(index, `Stranger ${index}`)).status)
    }
  }
  await Promise.all(Array.from({ length: 32 }, stranger))
  expect(statuses.filter((status) => status === 201)).toHaveLength(ceiling - inUse)
  expect(statuses.filter((status) => status === 503)).toHaveLength(attempts - ceiling + inUse)
  expect(await held()).toBe(ceiling)
  for (const [index, { client, refreshToken }] of users.entries()) {
    const fields = {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: client.body.client_id,
    }
    const refreshed = await request(urlAt(index)).post('/token').type('form').send(fields)
    expect(refreshed.status).toBe(200)
    expect((await register(index, `In use ${index}`)).body.client_id).toBe(client.body.client_id)
  }
})
