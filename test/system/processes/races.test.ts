import request, { type Response } from 'supertest'
import { photoBook } from '../../support/flows/clients'
import { authorizationRequest, type Flow, formOf } from '../../support/flows/flow'
import { keySecret } from '../../support/flows/jwt-tokens'
import { outcomeOf } from '../../support/flows/outcome'
import { codeChallenge, codeVerifier } from '../../support/flows/proof-key'
import { codeOf, redirectionOf } from '../../support/flows/redirection'
import { notesApp } from '../../support/flows/registering'
import type { ServerPlan } from '../../support/flows/server-process'
import { type ServerProcess, startServer } from '../../support/flows/start-server'
import { type IssuerStage, jobToken, openIssuerStage } from '../../support/issuer/issuer-stage'
import { describeOnDatabases, type SharedPlace } from '../../support/stores/databases'

let processes: readonly ServerProcess[] = []
/** Two processes on one database. */
async function startTwo({ store }: SharedPlace, plan: Partial<ServerPlan>): Promise<void> {
  const both = { store, ...plan }
  processes = await Promise.all([startServer(both), startServer(both)])
}
const killBoth = () => Promise.all(processes.map((server) => server.kill()))

/** One process and the other in turn. */
function at(index: number): ServerProcess {
  const server = processes[index % processes.length]
  if (server === undefined) throw new Error('There is no process.')
  return server
}

const parallel = 64
const all = <Answer>(send: (server: ServerProcess, index: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: parallel }, (_, index) => send(at(index), index)))

describeOnDatabases('64 requests at once to two processes on', ['Redis'], (place) => {
  beforeAll(async () => startTwo(await place(), { pushedRequests: true }))
  afterAll(killBoth)

  async function pushed() {
    const asked = authorizationRequest(photoBook)
    const { body } = await at(0).flow.request(photoBook, asked, '/par')
    return { client_id: asked.client_id, request_uri: String(body.request_uri) }
  }

  test('that decide one pushed request: one decision wins', async () => {
    const asked = await pushed()
    const ask = ({ flow }: { readonly flow: Flow }) => flow.ask(asked, 'alice')
    const pages = [await ask(at(0)), await ask(at(1))] as const
    const answers = await all(({ flow }, index) =>
      flow.decide(pages[index % 4 < 2 ? 0 : 1], index % 2 === 0 ? 'approve' : 'deny', 'alice'),
    )
    const [refusal, winner, ...more] = [...new Set(answers.map(outcomeOf))].toSorted()
    expect([refusal, more]).toEqual(['page 400 invalid_request', []])
    expect(winner).toMatch(/^redirect (?:code|access_denied)$/)
    const codes = answers.flatMap((answer) =>
      outcomeOf(answer) === 'redirect code' ? [redirectionOf(answer).parameters['code']] : [],
    )
    expect(new Set(codes).size).toBeLessThanOrEqual(1)
  })

  test('of owners who open one pushed request: one gets its page', async () => {
    const asked = await pushed()
    const answers = await all(({ flow }, index) => flow.ask(asked, `owner-${index % 8}`))
    const owners = answers.flatMap(({ status }, index) => (status === 200 ? [index % 8] : []))
    expect(owners).toEqual(Array(parallel / 8).fill(owners[0]))
  })

  test('that approve one pushed request without a page: one gets a code', async () => {
    const path = `/authorize?${formOf(await pushed())}`
    const answers = await all(({ flow }) => flow.open(path, 'alice', { 'X-Approved': 'yes' }))
    const outcomes = answers.map(outcomeOf).toSorted()
    expect(outcomes).toEqual([
      ...Array<string>(parallel - 1).fill('page 400 invalid_request'),
      'redirect code',
    ])
  })
})

describeOnDatabases(
  'A rotation of signing keys that is due, at two processes on',
  ['PostgreSQL'],
  (place) => {
    let stage: IssuerStage
    beforeAll(async () => {
      const jwts = {
        secret: keySecret,
        algorithms: ['ES256', 'RS256'] as const,
        rotateAfter: 7200,
      }
      stage = await openIssuerStage({ store: (await place()).store, accessToken: 1200, jwts })
    })
    afterAll(() => stage.stop())

    test('leaves one key that signs for each algorithm, the same at both', async () => {
      for (let round = 0; round < 2; round++) {
        await stage.advance(7200)
        const issued = await Promise.all(
          Array.from({ length: parallel }, (_, index) =>
            jobToken(
              stage.processes[index % 2 === 0 ? 0 : 1].flow,
              index % 4 < 2 ? '/token' : '/RS256/token',
            ),
          ),
        )
        expect(issued).not.toContain(undefined)
        const [one, other] = await Promise.all(stage.processes.map((each) => each.keys()))
        expect(one?.map(({ kid }) => kid)).toEqual(other?.map(({ kid }) => kid))
        const signers = one?.flatMap(({ signs, algorithm }) => (signs ? [algorithm] : []))
        expect(signers?.toSorted()).toEqual(['ES256', 'RS256'])
      }
    })
  },
)

describeOnDatabases('Two processes on', ['Redis'], (place) => {
  let shared: SharedPlace
  beforeEach(async () => {
    shared = await place()
  })
  afterEach(killBoth)

  const register = (index: number, client_name: string): Promise<Response> =>
    Promise.resolve(
      request(at(index).url)
        .post('/register')
        .send({ ...notesApp, client_name }),
    )

  /** The registrations that the database holds. */
  const held = async () => (await shared.texts('client:')).size

  /** An owner approves a request of the client, which gets tokens. */
  async function use(index: number, { body }: Response): Promise<Response> {
    const { flow } = at(index)
    const known = { client_id: body.client_id, redirect_uri: body.redirect_uris[0] }
    const proof = { code_challenge: codeChallenge, code_challenge_method: 'S256' }
    const page = await flow.ask({ response_type: 'code', scope: 'photos:read', ...known, ...proof }, 'alice')
    const code = codeOf(await flow.decide(page, 'approve', 'alice'))
    const fields = { grant_type: 'authorization_code', code, code_verifier: codeVerifier, ...known }
    return flow.submit('/token', fields)
  }

  test('make one client of 64 equal registrations at once', async () => {
    await startTwo(shared, { maximumClients: 100 })
    const answers = await all((_server, index) => register(index, 'Notes'))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await held()).toBe(1)
  })

  test('hold the ceiling under many different registrations, and lose no client in use [registration-1, registration-2]', async () => {
    const [attempts, ceiling, inUse] = [400, 100, 10]
    await startTwo(shared, { maximumClients: ceiling })
    const known: { readonly client_id: string; readonly refresh_token: string }[] = []
    for (let index = 0; index < inUse; index++) {
      const registered = await register(index, `In use ${index}`)
      const { refresh_token } = (await use(index, registered)).body
      known.push({ client_id: registered.body.client_id, refresh_token })
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
    for (const [index, fields] of known.entries()) {
      const refreshed = await at(index).flow.submit('/token', { grant_type: 'refresh_token', ...fields })
      expect(refreshed.status).toBe(200)
      expect((await register(index, `In use ${index}`)).body.client_id).toBe(fields.client_id)
    }
  })
})
