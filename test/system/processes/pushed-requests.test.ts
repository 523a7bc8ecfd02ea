import { randomUUID } from 'node:crypto'
import type { Response } from 'supertest'
import { photoBook } from '../../support/flows/clients'
import { authorizationRequest, formOf, type Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { requestUriPrefix } from '../../support/flows/pushing'
import { redirectionOf } from '../../support/flows/redirection'
import { startServer, type ServerProcess } from '../../support/flows/start-server'
import type { RedisCluster } from '../../support/redis-cluster'
import { withRedisCluster } from '../../support/with-redis'

const rounds = extent(1, 100)
const parallel = 64
let processes: readonly ServerProcess[] = []

let cluster: RedisCluster
withRedisCluster((started) => {
  cluster = started.cluster
})
beforeAll(async () => {
  const plan = {
    redis: { cluster: cluster.nodes },
    prefix: `pushed:${randomUUID()}:`,
    pushedRequests: true,
  }
  processes = await Promise.all([startServer(plan), startServer(plan)])
})
afterAll(async () => {
  await Promise.all(processes.map((server) => server.kill()))
})

const flowOf = (index: number): Flow => {
  const server = processes[index % processes.length]
  if (server === undefined) throw new Error('There is no process.')
  return server.flow
}

async function pushed(): Promise<{ client_id: string; request_uri: string }> {
  const asked = authorizationRequest(photoBook)
  const { body } = await flowOf(0).request(photoBook, asked, '/par')
  expect(body.request_uri).toContain(requestUriPrefix)
  return { client_id: asked.client_id, request_uri: body.request_uri }
}

const all = <Answer>(send: (flow: Flow, index: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: parallel }, (_, index) => send(flowOf(index), index)))

const codeIn = (response: Response) => redirectionOf(response).parameters['code']

describe('64 requests at once to two processes on a cluster', () => {
  test(`that decide one pushed request: one decision wins, ${rounds} times`, async () => {
    for (let round = 0; round < rounds; round++) {
      const request = await pushed()
      const pages = [await flowOf(0).ask(request, 'alice'), await flowOf(1).ask(request, 'alice')]
      const answers = await all((flow, index) => {
        const [page, other] = index % 4 < 2 ? pages : pages.toReversed()
        if (page === undefined || other === undefined) throw new Error('There is no page.')
        return flow.decide(page, index % 2 === 0 ? 'approve' : 'deny', 'alice')
      })
      const outcomes = new Set(answers.map(outcomeOf))
      const winners = ['redirect code', 'redirect access_denied'].filter((outcome) => outcomes.has(outcome))
      expect(winners).toHaveLength(1)
      expect([...outcomes].filter((outcome) => !winners.includes(outcome))).toEqual([
        'page 400 invalid_request',
      ])
      const codes = answers.filter((answer) => outcomeOf(answer) === 'redirect code').map(codeIn)
      expect(new Set(codes).size).toBeLessThanOrEqual(1)
    }
  })

  test(`of owners who open one pushed request: one gets its page, ${rounds} times`, async () => {
    for (let round = 0; round < rounds; round++) {
      const request = await pushed()
      const answers = await all((flow, index) => flow.ask(request, `owner-${index % 8}`))
      const owners = new Set(answers.flatMap(({ status }, index) => (status === 200 ? [index % 8] : [])))
      expect(owners.size).toBe(1)
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(parallel / 8)
    }
  })

  test(`that approve one pushed request without a page: one gets a code, ${rounds} times`, async () => {
    for (let round = 0; round < rounds; round++) {
      const path = `/authorize?${formOf(await pushed())}`
      const answers = await all((flow) => flow.open(path, 'alice', { 'X-Approved': 'yes' }))
      const outcomes = answers.map(outcomeOf)
      expect(outcomes.filter((outcome) => outcome === 'redirect code')).toHaveLength(1)
      expect(new Set(outcomes)).toEqual(new Set(['redirect code', 'page 400 invalid_request']))
    }
  })
})
