import request from 'supertest'
import {
  type ClientRegistry,
  memoryClients,
  metadataDocuments,
  type AuthorizationServerOptions,
} from '../../lib/index'
import { application } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { DocumentOrigin } from '../support/flows/document-origin'
import { authorizationRequest } from '../support/flows/flow'
import { describeOnRegistry } from '../support/flows/registry-stage'
import { outcomeOf } from '../support/flows/outcome'
import { registered, webMetadata } from '../support/flows/registered'
import { getTokens } from '../support/flows/registered-client'
import { notesApp } from '../support/flows/registering'

const day = 24 * 3600
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const dayOf = (clock: Clock) => {
  const now = Math.floor(clock.read() / 1000)
  return now - (now % day)
}

describeOnRegistry('The last use of a client', (stage) => {
  const open = (options: Partial<AuthorizationServerOptions> = {}) => {
    const clock = new Clock()
    const staged = stage({ clock: clock.read, ...options })
    return { ...staged, clock, uses: async () => staged.clients.lastUses?.() }
  }

  test('is the day of its last code or token, by any grant', async () => {
    const { oauth, flow, clock, uses } = open()
    const [forOwners, forItself] = [await registered(oauth), await registered(oauth)]
    const { refreshToken } = await flow.tokens(forOwners)
    const first = dayOf(clock)
    await flow.request(forItself, grant)
    clock.advance(3 * day)
    await flow.refresh(forOwners, refreshToken)
    expect(await uses()).toEqual(
      new Map([
        [forOwners.registration.client_id, first + 3 * day],
        [forItself.registration.client_id, first],
      ]),
    )
  })

  test('is the day of its last introspection, for a resource server', async () => {
    const { oauth, flow, clock, uses } = open()
    const server = await registered(oauth, { ...webMetadata, may_introspect: true })
    expect(outcomeOf(await flow.introspect(server, 'at_unknown'))).toBe('inactive')
    expect(await uses()).toEqual(new Map([[server.registration.client_id, dayOf(clock)]]))
  })

  test('is none for a request that anybody can send, and for one that fails', async () => {
    const { oauth, flow, uses } = open()
    const client = await registered(oauth)
    const page = await flow.ask(authorizationRequest(client), 'alice')
    await flow.decide(page, 'deny', 'alice')
    await flow.request({ ...client, secret: 'wrong' }, grant)
    await flow.redeem(client, 'ac_unknown')
    await flow.introspect(client, 'at_unknown')
    expect(await uses()).toEqual(new Map())
  })

  test('is no reason to refuse a client', async () => {
    const { clients } = open()
    const failing = { ...verbsOf(clients), noteUse: () => Promise.reject(new Error('refused')) }
    const { oauth, flow } = application({ clients: failing })
    const client = await registered(oauth)
    expect(outcomeOf(await flow.request(client, grant))).toBe('tokens')
  })
})

const verbsOf = (clients: ClientRegistry): ClientRegistry => ({
  find: (clientId) => clients.find(clientId),
  add: (registration) => clients.add(registration),
  update: (clientId, change) => clients.update(clientId, change),
  list: () => clients.list(),
  lastUses: async () => new Map(),
})

describe('Notes of uses', () => {
  const noted = () => {
    const notes: (readonly [string, number])[] = []
    const clients = {
      ...verbsOf(memoryClients()),
      noteUse: async (clientId: string, on: number) => void notes.push([clientId, on]),
    }
    return { notes, clients }
  }

  it('are one for each client, day and process', async () => {
    const { notes, clients } = noted()
    const clock = new Clock()
    const { oauth, flow } = application({ clients, clock: clock.read })
    const client = await registered(oauth)
    await Promise.all(Array.from({ length: 10 }, () => flow.request(client, grant)))
    clock.advance(day)
    for (let round = 0; round < 3; round++) await flow.request(client, grant)
    // A clock that was ahead, and is set right.
    clock.advance(-day)
    await flow.request(client, grant)
    clock.advance(day)
    const { client_id } = client.registration
    expect(notes).toEqual([
      [client_id, dayOf(clock) - day],
      [client_id, dayOf(clock)],
    ])
  })

  it('come again after a note that failed', async () => {
    const { notes, clients } = noted()
    let isFailing = true
    const noteUse = (clientId: string, on: number) =>
      isFailing ? Promise.reject(new Error('refused')) : clients.noteUse(clientId, on)
    const { oauth, flow } = application({ clients: { ...clients, noteUse } })
    const client = await registered(oauth)
    await flow.request(client, grant)
    isFailing = false
    await flow.request(client, grant)
    expect(notes).toHaveLength(1)
  })

  it('are there for registered clients beside documents, too', async () => {
    const { notes, clients } = noted()
    const { oauth, flow } = application({ clients: metadataDocuments({ registered: clients }) })
    const client = await registered(oauth)
    await flow.request(client, grant)
    expect(notes).toHaveLength(1)
  })

  it('never name a client that is known by its document', async () => {
    const { notes, clients } = noted()
    const origin = await DocumentOrigin.start()
    try {
      const { flow } = application({ clients: metadataDocuments({ ...origin.reach, registered: clients }) })
      expect(await flow.approve(origin.client)).toEqual(expect.any(String))
      expect(notes).toEqual([])
    } finally {
      await origin.stop()
    }
  })

  it('are none for a registry without both verbs, and for clients of no registry', async () => {
    const { notes, clients } = noted()
    const { oauth, flow } = application({ clients: Object.assign(clients, { lastUses: undefined }) })
    const client = await registered(oauth)
    expect(outcomeOf(await flow.request(client, grant))).toBe('tokens')
    expect(notes).toEqual([])
  })

  it('never name a client that registered itself', async () => {
    const { notes, clients } = noted()
    const staged = application({ clients, dynamicRegistration: {} })
    const client = await request(staged.app).post('/register').send(notesApp)
    expect((await getTokens(staged, client)).status).toBe(200)
    expect(notes).toEqual([])
  })
})
