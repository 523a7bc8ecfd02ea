import { randomUUID } from 'node:crypto'
import { Cluster, Redis } from 'ioredis'
import { redisStore } from '../../../lib/index'
import { extent } from '../../support/extent'
import { application } from '../../support/flows/application'
import { redemption, type Flow, type RepeatedFields } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { gallery, job, photosApi, printApi, reportsApi, withResources } from '../../support/flows/resources'
import { tokensOf } from '../../support/flows/tokens'
import type { RedisPlan } from '../../support/redis-plan'
import { topologies } from '../../support/races/topologies'

const approved = { scope: 'photos:read photos:print', resource: [photosApi, printApi] }
const requests = [[photosApi], [printApi], [photosApi, printApi], [reportsApi], [photosApi, reportsApi], []]
/** How many requests race, two servers in turn. */
const racers = 4 * requests.length

/** A client of a single Redis or of a cluster, which its test closes. */
function clientOn(plan: RedisPlan): Redis | Cluster {
  if ('url' in plan) return new Redis(plan.url)
  if ('cluster' in plan) return new Cluster([...plan.cluster])
  throw new Error('This race takes one Redis or a cluster.')
}

describe.each(topologies.slice(0, 2))('Two servers on %s', (_name, start) => {
  const stops: (() => Promise<unknown>)[] = []
  const clients: (Redis | Cluster)[] = []
  const flows: Flow[] = []

  beforeAll(async () => {
    const { redis, stop } = await start()
    stops.push(stop)
    const prefix = `resources:${randomUUID()}:`
    while (flows.length < 2) {
      const client = clientOn(redis)
      const store = redisStore({ client, prefix })
      const options = { defaultResource: photosApi, storeDeadline: 10 }
      clients.push(client)
      flows.push(application(withResources({ ...options, store })).flow)
    }
  })
  afterAll(async () => {
    for (const client of clients) client.disconnect()
    for (const stop of stops) await stop()
  })

  const flowOf = (index: number): Flow => {
    const flow = flows[index % flows.length]
    if (flow === undefined) throw new Error('No server has started.')
    return flow
  }
  const race = async (fields: (resource: readonly string[]) => RepeatedFields) =>
    Promise.all(
      Array.from({ length: racers }, async (_, index) => {
        const resource = requests[index % requests.length] ?? []
        const response = await flowOf(index).request(gallery, fields(resource))
        return { resource, response, outcome: outcomeOf(response) }
      }),
    )
  const audienceOf = async (accessToken: string): Promise<readonly string[]> =>
    (await flowOf(0).introspect(job, accessToken)).body.aud
  const isApproved = (resource: readonly string[]) => !resource.includes(reportsApi)

  test('give each of many refreshes at once what it asks for, and never what was not approved', async () => {
    let { refreshToken } = await flowOf(0).tokens(gallery, approved)
    for (let round = 0; round < extent(3, 30); round++) {
      const current = refreshToken
      const fields = (resource: readonly string[]) => ({
        grant_type: 'refresh_token',
        refresh_token: current,
        resource,
      })
      for (const { resource, response, outcome } of await race(fields)) {
        expect([resource, outcome]).toEqual([
          resource,
          isApproved(resource) ? 'tokens' : '400 invalid_target',
        ])
        if (!isApproved(resource)) continue
        const tokens = tokensOf(response)
        const asked = resource.length === 0 ? approved.resource : resource
        expect(await audienceOf(tokens.accessToken)).toEqual(asked)
        expect(tokens.scope).toBe(asked.includes(printApi) ? approved.scope : 'photos:read')
        refreshToken = tokens.refreshToken
      }
    }
  })

  test('give one of many redemptions at once a token, for what it asks for', async () => {
    for (let round = 0; round < extent(3, 30); round++) {
      const code = await flowOf(round).approve(gallery, approved)
      const fields = (resource: readonly string[]) => ({ ...redemption(gallery, code), resource })
      const winners = (await race(fields)).filter(({ outcome }) => outcome === 'tokens')
      expect(winners).toHaveLength(1)
      expect(winners.map(({ resource }) => isApproved(resource))).toEqual([true])
    }
  })
})
