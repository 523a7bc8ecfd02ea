import { randomUUID } from 'node:crypto'
import type { AuthorizationStore } from '../../../lib/index'
import { application, type Application } from '../../support/flows/application'
import { photoFrame } from '../../support/flows/clients'
import { Gate } from '../../support/flows/gate'
import { outcomeOf } from '../../support/flows/outcome'
import { startRedisCluster, type RedisCluster } from '../../support/redis-cluster'
import { storeOn } from '../../support/redis-plan'

const refreshes = 64

let cluster: RedisCluster
let stores: ReturnType<typeof storeOn>[] = []
let servers: Application[] = []
/** Where reads wait for each other, while there is one. */
let allHaveRead: Gate | undefined

/** A store whose reads meet: none answers before all have read the same record. */
function meeting(store: AuthorizationStore): AuthorizationStore {
  return {
    find: async (id) => {
      const found = await store.find(id)
      if (allHaveRead?.waiting === refreshes - 1) allHaveRead.open()
      await allHaveRead?.pass()
      return found
    },
    save: (...given) => store.save(...given),
    remove: (id) => store.remove(id),
  }
}

beforeAll(async () => {
  cluster = await startRedisCluster()
  const prefix = `kept:${randomUUID()}:`
  stores = [1, 2].map(() => storeOn({ cluster: cluster.nodes }, { prefix }))
  servers = stores.map((store) =>
    application({ store: meeting(store), refreshTokenRotation: false, storeDeadline: 60 }),
  )
})
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await cluster.stop()
})

const flowAt = (index: number) => {
  const server = servers[index % servers.length]
  if (server === undefined) throw new Error('There is no server.')
  return server.flow
}

test('64 refreshes that read one record together, at two servers on a cluster, all get one good token and keep their refresh token', async () => {
  const { refreshToken } = await flowAt(0).tokens(photoFrame)
  for (let round = 0; round < 3; round++) {
    allHaveRead = new Gate()
    const answers = await Promise.all(
      Array.from({ length: refreshes }, (_, index) => flowAt(index).refresh(photoFrame, refreshToken)),
    )
    allHaveRead = undefined
    expect(new Set(answers.map(outcomeOf))).toEqual(new Set(['tokens']))
    expect(new Set(answers.map(({ body }) => body.refresh_token))).toEqual(new Set([refreshToken]))
    const [token, ...others] = new Set(answers.map(({ body }) => String(body.access_token)))
    expect(others).toEqual([])
    expect((await flowAt(0).photos(token ?? '')).status).toBe(200)
  }
})

test('one after the other, each refresh gets a token of its own, and the newest 32 are good', async () => {
  const { refreshToken } = await flowAt(0).tokens(photoFrame)
  const tokens: string[] = []
  for (let index = 0; index < 34; index++) {
    const { body } = await flowAt(index).refresh(photoFrame, refreshToken)
    expect(body.refresh_token).toBe(refreshToken)
    tokens.push(body.access_token)
  }
  const statuses = await Promise.all(tokens.map(async (token) => (await flowAt(0).photos(token)).status))
  expect(statuses).toEqual([401, 401, ...Array.from({ length: 32 }, () => 200)])
})
