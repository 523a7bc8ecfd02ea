import { randomUUID } from 'node:crypto'
import type { AuthorizationList } from '../../../lib/index'
import { bent, type ClientApplication, photoBook, photoPrint } from '../../support/flows/clients'
import { authorizationRequest, type Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { codeOf, redirectionOf } from '../../support/flows/redirection'
import { type ServerProcess, startServer } from '../../support/flows/start-server'
import { tokensOf } from '../../support/flows/tokens'
import { describeOnDatabases } from '../../support/stores/databases'

const applications = Array.from({ length: 16 }, (_, index) => bent(photoBook, { client_id: `app-${index}` }))
const clients = [...applications, photoBook, photoPrint].map(({ registration }) => registration)
const turns = Array.from({ length: 64 }, (_, turn) => turn)

describeOnDatabases('Of one owner, two processes on', ['PostgreSQL'], (place) => {
  let processes: readonly ServerProcess[]
  let owner: string
  beforeAll(async () => {
    const { store } = await place()
    const plan = { store, clients, authorizations: true, rememberConsent: true }
    processes = await Promise.all([startServer(plan), startServer(plan)])
  })
  afterAll(() => Promise.all(processes.map((server) => server.kill())))
  beforeEach(() => {
    owner = `owner-${randomUUID()}`
  })

  function at(turn: number): Flow {
    const server = processes[turn % processes.length]
    if (server === undefined) throw new Error('There is no process.')
    return server.flow
  }

  const all = <Answer>(send: (flow: Flow, turn: number) => Promise<Answer>) =>
    Promise.all(turns.map((turn) => send(at(turn), turn)))
  const ask = (flow: Flow, client: ClientApplication = photoPrint) =>
    flow.ask(authorizationRequest(client), owner)
  /** The host has approved before: a page would not come where the decision of another is remembered by then. */
  const approveOn = (flow: Flow, client?: ClientApplication) =>
    ask(flow.behind({ 'X-Approved': 'yes' }), client)
  const listed = async (flow: Flow): Promise<AuthorizationList> =>
    (await flow.open(`/operator/${owner}`)).body
  const end = async (flow: Flow, path = '') => {
    const { status, body } = await flow.submit(`/operator/${owner}/end${path}`, {})
    return { status, ...body }
  }

  test('enter each of 64 approvals at once', async () => {
    expect(new Set((await all((flow) => approveOn(flow))).map(outcomeOf))).toEqual(new Set(['redirect code']))
    for (const flow of [at(0), at(1)]) expect((await listed(flow)).authorizations).toHaveLength(64)
  })

  test('remember what 16 pages allowed at once, and ask no more', async () => {
    const pages = await Promise.all(applications.map((client, turn) => ask(at(turn), client)))
    await Promise.all(pages.map((page, turn) => at(turn + 1).decide(page, 'approve', owner)))
    const names = applications.map(({ registration }) => registration.client_id).toSorted()
    const { authorizations, consents } = await listed(at(0))
    expect(authorizations.map(({ clientId }) => clientId).toSorted()).toEqual(names)
    expect(consents.map(({ clientId }) => clientId)).toEqual(names)
    const again = await Promise.all(applications.map((client, turn) => ask(at(turn), client)))
    expect(new Set(again.map(outcomeOf))).toEqual(new Set(['redirect code']))
  })

  test.each([
    ['revokeAll of one', ''],
    ['the removal of the application at one', '/photo-print'],
  ])('leave nothing alive of what came before %s, in the middle of 64 approvals', async (_title, path) => {
    const begun = await all(async (flow) => codeOf(await approveOn(flow)))
    const pages = path === '' ? await all((flow) => ask(flow)) : []
    const deciding = Promise.all(pages.map((page, turn) => at(turn).decide(page, 'approve', owner)))
    const redeeming = all((flow, turn) => flow.redeem(photoPrint, begun[turn] ?? ''))
    expect((await end(at(1), path)).status).toBe(200)
    const late = (await deciding).flatMap((answer) => redirectionOf(answer).parameters['code'] ?? [])
    for (const code of late) expect(outcomeOf(await at(0).redeem(photoPrint, code))).not.toBe('tokens')
    for (const answer of await redeeming) {
      if (answer.status !== 200) continue
      const { accessToken, refreshToken } = tokensOf(answer)
      for (const flow of [at(0), at(1)]) {
        expect((await flow.photos(accessToken)).status).toBe(401)
        expect(outcomeOf(await flow.refresh(photoPrint, refreshToken))).toBe('400 invalid_grant')
      }
    }
    expect((await listed(at(0))).authorizations).toEqual([])
  })

  test('end everything, by 64 calls of revokeAll at once', async () => {
    await all((flow) => approveOn(flow))
    const answers = await all((flow) => end(flow))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await listed(at(1))).authorizations).toEqual([])
    expect((await end(at(0))).count).toBe(0)
  })

  test('refuse what a client got before revokeClient of one, in the middle of 64 refreshes', async () => {
    const tokens = await all(async (flow) => {
      const code = codeOf(await approveOn(flow, photoBook))
      return tokensOf(await flow.redeem(photoBook, code))
    })
    const refreshing = all((flow, turn) => flow.refresh(photoBook, tokens[turn]?.refreshToken ?? ''))
    expect((await at(0).submit('/operator/clients/photo-book', {})).status).toBe(200)
    const answers = await refreshing
    expect(answers.map(outcomeOf).filter((each) => !['tokens', '400 invalid_grant'].includes(each))).toEqual(
      [],
    )
    const pairs = [...tokens, ...answers.filter(({ status }) => status === 200).map(tokensOf)]
    // A guard of another process hears of it within a second.
    await new Promise((resolve) => setTimeout(resolve, 1100))
    const statuses = await Promise.all(
      pairs.map(async ({ accessToken }, turn) => (await at(turn).photos(accessToken)).status),
    )
    expect(new Set(statuses)).toEqual(new Set([401]))
    const again = await Promise.all(
      pairs.map(({ refreshToken }, turn) => at(turn).refresh(photoBook, refreshToken)),
    )
    expect(new Set(again.map(outcomeOf))).toEqual(new Set(['400 invalid_grant']))
  })
})
