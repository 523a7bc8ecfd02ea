import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import {
  type ClientMember,
  type ClientRegistration,
  memoryStore,
  type Plugin,
} from 'express-authorization-server'
import {
  registeredClients,
  metadataDocuments,
  registerClient,
} from 'express-authorization-server/registration'
import { redisStore } from 'express-authorization-server/redis'
import { nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { DocumentOrigin } from '../support/flows/document-origin'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { configure } from '../support/flows/registered-client'
import { describeRegistration, notesApp, notesService } from '../support/flows/registering'
import { setStage } from '../support/flows/stage'
import { describeOnStores } from '../support/flows/stores-of-run'
import { mistakesWith } from '../support/mistakes'
import { withRedis } from '../support/with-redis'
import { printer } from '../support/registrations'

/** `badge` is gold or silver, or an object; `badge_uri` leads to a document that names the client. */
const badges: readonly ClientMember[] = [
  {
    name: 'badge',
    mistakeIn(value) {
      if (value === 'broken') throw new Error('The check of the plug-in fails.')
      return value === 'gold' || value === 'silver' || typeof value === 'object'
        ? undefined
        : 'must be gold or silver.'
    },
    conflictIn: (value, { client_type: type }) =>
      value === 'gold' && type === 'public' ? 'must be silver for a public client.' : undefined,
  },
  {
    name: 'badge_uri',
    mistakeIn: (value) => (typeof value === 'string' ? undefined : 'must be a text.'),
    async verify(value, { client, fetchDocument }) {
      const document = await fetchDocument(typeof value === 'string' ? value : '')
      return JSON.stringify(document) === JSON.stringify([client.client_name])
        ? undefined
        : 'must lead to a list with the name of the client.'
    },
  },
]

/** Tells the members that clients have. */
const badgeOffice: Plugin = {
  name: 'badge-office',
  open: () => ({
    clientMembers: badges,
    endpoints: [
      {
        name: 'badge',
        path: '/badge',
        handle: async ({ client: { members } }) => ({
          members: { members, isFrozen: Object.isFrozen(members), inherits: 'constructor' in members },
        }),
      },
    ],
  }),
}
const plugins = [badgeOffice]

const withBadge = (client: typeof photoPrint | typeof photoBook, badge: unknown) => ({
  ...client,
  registration: { ...client.registration, badge },
})

describeOnStores('A member of a registration that a plug-in adds', (stage) => {
  test('reaches the client from the options, frozen and without a prototype', async () => {
    const gold = withBadge(photoPrint, 'gold')
    const { flow } = stage({ clients: [gold.registration, photoBook.registration], plugins })
    const { body } = await flow.request(gold, {}, '/badge')
    expect(body).toEqual({ members: { badge: 'gold' }, isFrozen: true, inherits: false })
    const none = await flow.request(photoBook, {}, '/badge')
    expect(none.body).toEqual({ members: {}, isFrozen: true, inherits: false })
  })

  test('is stored at the top level by registerClient, and read from the store', async () => {
    const clients = registeredClients(memoryStore())
    const set = stage({ clients, plugins })
    const metadata = { ...photoPrint.registration, badge: { level: 1 } }
    await set.oauth.registerClient(metadata)
    expect(await clients.find('photo-print')).toMatchObject({ badge: { level: 1 } })
    expect(await clients.find('photo-print')).not.toHaveProperty('members')
    const { body } = await set.flow.request(photoPrint, {}, '/badge')
    expect(body.members).toEqual({ badge: { level: 1 } })
    const tin = { ...metadata, client_id: 'b', badge: 'tin' }
    await expect(set.oauth.registerClient(tin)).rejects.toThrow('badge must be gold or silver.')
  })

  test('is kept by registerClient of a server that is not known, unless its name looks misspelt or like a secret', async () => {
    const clients = registeredClients(memoryStore())
    const registering = (bend: object) => registerClient(clients, { ...nightlyReport.registration, ...bend })
    await registering({ badge: 'gold', constructor: ['x'] })
    expect(await clients.find('nightly-report')).toMatchObject({ badge: 'gold', constructor: ['x'] })
    await expect(registering({ scopes: 'photos:read' })).rejects.toThrow('Did you mean scope?')
    await expect(registering({ badge_secret: 'x' })).rejects.toThrow('badge_secret is not known here')
    await expect(registering({ Badge: 1 })).rejects.toThrow('Badge is not known here')
    const polluting: object = JSON.parse('{ "__proto__": { "badge": "gold" } }')
    await expect(registering(polluting)).rejects.toThrow('__proto__ is not known here')
  })

  test('refuses the registration as an unknown member where the server has no such plug-in', async () => {
    const clients = registeredClients(memoryStore())
    const gold: ClientRegistration = withBadge(photoPrint, 'gold').registration
    await clients.add(gold)
    const set = stage({ clients })
    expect(outcomeOf(await set.flow.request(photoPrint, { grant_type: 'refresh_token' }))).toBe(
      '500 server_error',
    )
    expect(mistakesWith({ clients: [{ ...printer, badge: 'gold' }] })).toEqual([
      { path: 'clients[0].badge', message: expect.stringContaining('is not known here') },
    ])
  })

  test.each([
    ['tin', 'must be gold or silver.'],
    ['broken', 'must be what the plug-in of badge can read.'],
    [new Date(0), expect.stringContaining('must be JSON')],
    ['x'.repeat(1_000_000), expect.stringContaining('must be JSON')],
  ])('is checked with every other mistake [%#]', (badge, message) => {
    const faulty = { ...printer, badge, scope: 7 }
    expect(mistakesWith({ clients: [faulty], plugins })).toEqual([
      { path: 'clients[0].scope', message: expect.any(String) },
      { path: 'clients[0].badge', message },
    ])
  })

  test('is checked against the other members, once they are good; null and undefined count as left out', () => {
    const phone = { ...photoBook.registration, scope: 'photos.read', badge: 'gold' }
    expect(mistakesWith({ clients: [phone], plugins })).toEqual([
      { path: 'clients[0].badge', message: 'must be silver for a public client.' },
    ])
    for (const badge of [null, undefined])
      expect(mistakesWith({ clients: [{ ...phone, badge }], plugins })).toEqual([])
  })
})

describe('A plug-in', () => {
  const adding = (name: string, ...clientMembers: readonly unknown[]) => ({
    name,
    open: () => ({ clientMembers }),
  })
  const member = (name: unknown) => ({ name, mistakeIn: () => undefined })

  test('cannot add a member twice, nor one that registrations have already', () => {
    const taken = ['scope', 'client_secret', 'members', 'registration_access_token'].map(member)
    const all = [adding('a', member('badge')), adding('b', member('badge')), adding('c', ...taken)]
    expect(mistakesWith({ plugins: all })).toEqual([
      {
        path: 'plugins[1].clientMembers[0].name',
        message: 'is "badge", which another plug-in has already.',
      },
      ...taken.map(({ name }, index) => ({
        path: `plugins[2].clientMembers[${index}].name`,
        message: `is "${String(name)}", which every registration has already.`,
      })),
    ])
  })

  test.each([
    7,
    member('__proto__'),
    member('Badge'),
    { name: 'badge' },
    { ...member('badge'), verify: true },
    { ...member('badge'), conflictIn: 'x' },
  ])('cannot add %p as a member', (wrong) => {
    expect(mistakesWith({ plugins: [adding('a', wrong)] })).toEqual([
      {
        path: expect.stringMatching(/^plugins\[0\]\.clientMembers\[0\]/),
        message: expect.stringMatching(/must be/),
      },
    ])
  })
})

let origin: DocumentOrigin
beforeEach(async () => {
  origin = await DocumentOrigin.start()
})
afterEach(() => origin.stop())

/** Where the origin answers with a list of names. */
function badgeAt(names: readonly string[]): string {
  origin.answer = (_request, response) => {
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(names))
  }
  return origin.clientId.replace('client.json', 'badge.json')
}

describeRegistration('A client that registers itself with a member of a plug-in', (stage) => {
  const clientsOfHost = () => metadataDocuments({ ...origin.reach })
  const open = () => stage({}, { plugins, clients: clientsOfHost() })

  test('gets the member back, has it, and gets one client_id for equal metadata', async () => {
    const set = open()
    const first = await set.register({ ...notesApp, badge: { b: [2, 1], a: 1 } })
    expect([first.status, first.body.badge]).toEqual([201, { a: 1, b: [2, 1] }])
    const again = await set.register({ badge: { a: 1, b: [2, 1] }, ...notesApp, unknown: 'ignored' })
    expect(again.body.client_id).toBe(first.body.client_id)
    expect(again.body).not.toHaveProperty('unknown')
    for (const badge of [{ a: 1, b: [1, 2] }, 'silver', null]) {
      const other = await set.register({ ...notesApp, badge })
      expect([other.status, other.body.client_id === first.body.client_id]).toEqual([201, false])
    }
    const { body } = await set.flow.submit('/badge', { client_id: first.body.client_id })
    expect(body.members).toEqual({ badge: { a: 1, b: [2, 1] } })
  })

  test('keeps its client_id of a server without the plug-in, where it states no member', async () => {
    const { body } = await open().register(notesApp)
    expect((await stage().register(notesApp)).body.client_id).toBe(body.client_id)
  })

  test.each([
    ['tin', 'badge must be gold or silver.'],
    ['gold', 'badge must be silver for a public client.'],
    [{ a: 'x'.repeat(20_000) }, 'badge is not valid here.'],
    ['broken', 'badge must be what the plug-in of badge can read.'],
  ])('is refused with the name of the member [%#]', async (badge, description) => {
    const { status, body } = await open().register({ ...notesApp, badge })
    expect([status, body]).toEqual([
      400,
      { error: 'invalid_client_metadata', error_description: description },
    ])
  })

  test('replaces the member with its registration [RFC 7592 2.2]', async () => {
    const set = open()
    const client = await set.register({ ...notesService, badge: 'gold' })
    const { client_id } = client.body
    const changed = await configure(set, 'put', client, {
      metadata: { ...notesService, client_id, badge: 'silver' },
    })
    expect([changed.status, changed.body.badge]).toEqual([200, 'silver'])
    const badge_uri = badgeAt(['Another'])
    const wrong = { ...notesService, client_id, badge_uri }
    expect(outcomeOf(await configure(set, 'put', client, { metadata: wrong }))).toBe(
      '400 invalid_client_metadata',
    )
    const left = await configure(set, 'put', client, { metadata: { ...notesService, client_id } })
    expect(left.body).not.toHaveProperty('badge')
  })

  test('is registered only with a statement that the plug-in can verify', async () => {
    const set = open()
    const good = await set.register({ ...notesApp, badge_uri: badgeAt(['Notes']) })
    expect(good.status).toBe(201)
    const refused = await set.register({ ...notesApp, badge_uri: badgeAt(['Another']) })
    expect(refused.body.error_description).toBe('badge_uri must lead to a list with the name of the client.')
    origin.answer = (_request, response) => void response.writeHead(500).end()
    for (const badge_uri of [
      origin.clientId,
      'https://notes.example:1/badge.json',
      'http://notes.example/x',
      '',
    ]) {
      const { body } = await set.register({ ...notesApp, badge_uri })
      expect(badge_uri === '' ? body.client_name : body.error_description).toBe(
        badge_uri === '' ? 'Notes' : 'The server cannot fetch a document that the client metadata names.',
      )
    }
  })
})

describe('The client of a metadata document with a member of a plug-in', () => {
  let client: Redis
  withRedis((started) => {
    client = started.client
  })
  const clients = () => metadataDocuments({ ...origin.reach })
  const ask = ({ flow }: ReturnType<typeof setStage>) =>
    flow.ask(authorizationRequest(origin.client), 'alice')

  /** The document, and the list of names to which `badge_uri` leads. */
  const serve = (names: readonly string[]) => {
    const badge_uri = origin.clientId.replace('client.json', 'badge.json')
    const lists: string[] = []
    origin.answer = ({ url = '' }, response) => {
      if (url.endsWith('badge.json')) lists.push(url)
      const json = url.endsWith('badge.json') ? names : { ...origin.document, badge_uri }
      response.setHeader('Content-Type', 'application/json').setHeader('Cache-Control', 'max-age=300')
      response.end(JSON.stringify(json))
    }
    return lists
  }

  test('has the member, and no others', async () => {
    const set = setStage({ plugins, clients: clients() })
    origin.members = { badge: 'silver', unknown: 1, constructor: 'x' }
    expect(outcomeOf(await ask(set))).toBe('question')
    const { body } = await set.flow.submit('/badge', { client_id: origin.clientId })
    expect(body.members).toEqual({ badge: 'silver' })
  })

  test.each(['tin', 'x'.repeat(4000)])('is refused with a bad value [%#]', async (badge) => {
    origin.members = { badge }
    expect(errorPageOf(await ask(setStage({ plugins, clients: clients() })))).toBe('400 invalid_request')
  })

  test('is verified once with its document, for all processes', async () => {
    const store = redisStore({ client, prefix: `flow:${randomUUID()}:` })
    const lists = serve(['Note Taker'])
    for (const process of [1, 2]) {
      const set = setStage({ plugins, clients: clients(), store })
      expect([process, outcomeOf(await ask(set)), lists.length]).toEqual([process, 'question', 1])
      await ask(set)
    }
    expect(lists).toHaveLength(1)
  })

  test('is refused if its statement is wrong, also where a process without the plug-in knows the document', async () => {
    const store = redisStore({ client, prefix: `flow:${randomUUID()}:` })
    serve(['Another'])
    expect(outcomeOf(await ask(setStage({ clients: clients(), store })))).toBe('question')
    expect(errorPageOf(await ask(setStage({ plugins, clients: clients(), store })))).toBe(
      '400 invalid_request',
    )
  })
})
