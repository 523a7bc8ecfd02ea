import type { ClientRegistration, DynamicClientStore } from 'express-authorization-server'
import {
  generateClientSecret,
  memoryClients,
  memoryDynamicClients,
  memoryStore,
} from 'express-authorization-server'
import { Clock } from '../support/flows/clock'
import { outcomeOf } from '../support/flows/outcome'
import { approve, configure, getTokens, ofClient, redeem, refresh } from '../support/flows/registered-client'
import {
  clientsOf,
  day,
  describeRegistration,
  disabled,
  hour,
  inMemory,
  notesApp,
  notesService,
  registeringOn,
  type RegisteringStage,
} from '../support/flows/registering'

const refused = '400 invalid_client_metadata'

describeRegistration('A public client that the operator removed', (stage) => {
  test('registers again under another identifier, and its old tokens stay dead [registration-14]', async () => {
    const staged = stage()
    const first = await staged.register(notesApp)
    const old = (await getTokens(staged, first)).body
    const code = await approve(staged, first)
    await staged.clients.remove(first.body.client_id)
    const second = await staged.register(notesApp)
    expect(second.status).toBe(201)
    expect(second.body).toEqual({ ...first.body, client_id: expect.stringMatching(/^dynamic_[\w-]{43}$/) })
    expect(second.body.client_id).not.toBe(first.body.client_id)
    expect(outcomeOf(await refresh(staged, first, old.refresh_token))).toBe('401 invalid_client')
    expect(outcomeOf(await refresh(staged, second, old.refresh_token))).toBe('400 invalid_grant')
    expect(outcomeOf(await redeem(staged, second, code))).toBe('400 invalid_grant')
    expect((await staged.flow.ask(ofClient(first), 'alice')).status).toBe(400)
    // The same for each installation of the app.
    expect((await staged.register(notesApp)).body).toEqual(second.body)
    expect((await getTokens(staged, second)).status).toBe(200)
    // Each removal brings an identifier of its own.
    await staged.clients.remove(second.body.client_id)
    const third = await staged.register(notesApp)
    expect(third.status).toBe(201)
    expect([first.body.client_id, second.body.client_id]).not.toContain(third.body.client_id)
  })
})

describeRegistration('A public client that the operator disabled', (stage) => {
  test('is refused when it registers again, and stays disabled [registration-15]', async () => {
    const staged = stage()
    const client = await staged.register(notesApp)
    const { access_token, refresh_token } = (await getTokens(staged, client)).body
    await staged.clients.update(client.body.client_id, disabled)
    expect((await staged.flow.photos(access_token)).status).toBe(200)
    expect(outcomeOf(await staged.register(notesApp))).toBe(refused)
    expect(staged.failures.map(({ reason }) => reason)).toContain('client_metadata_disabled')
    expect((await staged.flow.ask(ofClient(client), 'alice')).status).toBe(400)
    expect(outcomeOf(await refresh(staged, client, refresh_token))).toBe('401 invalid_client')
  })
})

describe('The marks of the operator end', () => {
  const stage = registeringOn(inMemory)

  test.each([false, true])('disabled: not before every token of the client (in use: %s)', async (isUsed) => {
    const staged = stage({}, { lifetimes: { refreshToken: 200 * day } })
    const client = await staged.register(notesApp)
    if (isUsed) await getTokens(staged, client)
    await staged.clients.update(client.body.client_id, disabled)
    staged.clock.advance(200 * day - 1)
    expect(outcomeOf(await staged.register(notesApp))).toBe(refused)
  })

  test('removed: not before every token of the client, and then it gets its first identifier', async () => {
    const staged = stage({}, { lifetimes: { refreshToken: 200 * day } })
    const client = await staged.register(notesApp)
    const { refresh_token } = (await getTokens(staged, client)).body
    await staged.clients.remove(client.body.client_id)
    staged.clock.advance(200 * day - 1)
    const second = await staged.register(notesApp)
    expect(second.body.client_id).not.toBe(client.body.client_id)
    // Its one hour, and the two days by which a client outlives its tokens.
    staged.clock.advance(2 * day + 1)
    expect((await staged.register(notesApp)).body.client_id).toBe(client.body.client_id)
    expect(outcomeOf(await refresh(staged, client, refresh_token))).toBe('400 invalid_grant')
  })
})

describe('The clients of the host come first', () => {
  const stage = registeringOn(inMemory)

  const appOf = (client_id: string, bend: Partial<ClientRegistration> = {}): ClientRegistration => ({
    client_id,
    client_type: 'public',
    redirect_uris: notesApp.redirect_uris,
    grant_types: notesApp.grant_types,
    scope: 'photos:read photos:print',
    client_name: 'Notes, checked',
    ...bend,
  })

  const idOf = async () => (await stage().register(notesApp)).body.client_id

  /** The clients of a host as a list, and as a store. */
  async function sources(registration: ClientRegistration) {
    const store = memoryClients()
    await store.add(registration)
    return [[registration], store]
  }

  test('a registration of their metadata gets what the host has registered, and writes nothing [registration-16]', async () => {
    const client_id = await idOf()
    for (const clients of await sources(appOf(client_id))) {
      const staged = stage({}, { clients })
      const { status, body } = await staged.register(notesApp)
      expect([status, body]).toEqual([
        201,
        { ...notesApp, client_id, scope: 'photos:read photos:print', client_name: 'Notes, checked' },
      ])
      expect(await staged.clients.find(client_id)).toBeUndefined()
      const client = { body }
      expect((await getTokens(staged, client)).status).toBe(200)
    }
  })

  const { client_secret_hash } = generateClientSecret()
  test.each<[string, Partial<ClientRegistration>]>([
    ['is disabled', { disabled: true }],
    ['has a secret', { client_type: 'confidential', client_secret_hashes: [client_secret_hash] }],
  ])('a registration of the metadata of one that %s is refused', async (_what, bend) => {
    const client_id = await idOf()
    for (const clients of await sources(appOf(client_id, bend))) {
      const staged = stage({}, { clients })
      expect(outcomeOf(await staged.register(notesApp))).toBe(refused)
      expect(await staged.clients.find(client_id)).toBeUndefined()
      expect((await staged.register({ ...notesApp, client_name: 'Other' })).status).toBe(201)
    }
  })

  test('an entry of the host holds, although a client of the identifier registered itself before', async () => {
    const before = stage()
    const client = await before.register(notesApp)
    const ask = async (clients: Awaited<ReturnType<typeof sources>>[number], scope: string) =>
      (await stage({ store: before.clients }, { clients }).flow.ask({ ...ofClient(client), scope }, 'alice'))
        .status
    for (const clients of await sources(appOf(client.body.client_id)))
      expect(await ask(clients, 'photos:print')).toBe(200)
    for (const clients of await sources(appOf(client.body.client_id, { disabled: true })))
      expect(await ask(clients, 'photos:read')).toBe(400)
  })

  test('an entry that the store of the host gets later holds within a minute', async () => {
    const clients = memoryClients()
    const staged = stage({}, { clients })
    const client = await staged.register(notesApp)
    const ask = async () => (await staged.flow.ask(ofClient(client), 'alice')).status
    expect(await ask()).toBe(200)
    await clients.add(appOf(client.body.client_id, { disabled: true }))
    staged.clock.advance(60)
    expect(await ask()).toBe(400)
  })
})

/** A server of an issuer on a store that it shares with others. */
function serverOf(
  shared: Pick<RegisteringStage, 'clock'> & { readonly store: DynamicClientStore },
  issuer: string,
  registration = {},
): RegisteringStage {
  const { clock, store } = shared
  const staged = registeringOn((read) => ({ store: memoryStore({ clock: read }), clients: store }))(
    registration,
    { issuer, clock: clock.read },
  )
  return { ...staged, clock }
}

const shared = () => {
  const clock = new Clock()
  return { clock, store: memoryDynamicClients({ clock: clock.read }) }
}

describe('Clients belong to the issuer that registered them', () => {
  const [open, closed] = ['http://localhost:1', 'http://localhost:2']
  const token = generateClientSecret()
  const initialAccessToken = token.client_secret_hash

  async function expectUnknown(
    staged: RegisteringStage,
    client: Awaited<ReturnType<RegisteringStage['register']>>,
  ) {
    expect((await staged.flow.ask(ofClient(client), 'alice')).status).toBe(400)
    expect(outcomeOf(await redeem(staged, client, 'a'.repeat(64)))).toBe('401 invalid_client')
  }

  test.each([
    ['public', notesApp],
    ['confidential', notesService],
  ])(
    'a %s one of an open server gets nothing at a server that demands an initial access token [registration-17]',
    async (_type, metadata) => {
      const ground = shared()
      const client = await serverOf(ground, open).register(metadata)
      expect(client.status).toBe(201)
      const other = serverOf(ground, closed, { initialAccessToken })
      await expectUnknown(other, client)
      expect((await serverOf(ground, open).flow.ask(ofClient(client), 'alice')).status).toBe(200)
    },
  )

  test('a registration access token is good at its issuer only', async () => {
    const ground = shared()
    const client = await serverOf(ground, open).register(notesService)
    for (const method of ['get', 'put', 'delete'] as const)
      expect(outcomeOf(await configure(serverOf(ground, closed), method, client, { metadata: {} }))).toBe(
        '401 invalid_token',
      )
    expect((await configure(serverOf(ground, open), 'get', client)).status).toBe(200)
  })
})

describe('How long a client of several processes lives', () => {
  /** Processes of one server. */
  function processes(options = {}) {
    const clock = new Clock()
    const store = memoryStore({ clock: clock.read })
    let clients = memoryDynamicClients({ clock: clock.read })
    // Stands for a Redis that may lose its keys.
    const losing = clientsOf(() => clients)
    const loseAll = () => void (clients = memoryDynamicClients({ clock: clock.read }))
    const start = () =>
      registeringOn(() => ({ store, clients: losing }))({}, { clock: clock.read, ...options })
    return { clock, start, loseAll }
  }

  test('longer than each refresh token, whichever process issued it', async () => {
    const { clock, start } = processes({ lifetimes: { refreshToken: 200 * day } })
    const [one, other] = [start(), start()]
    const client = await one.register(notesApp)
    await getTokens(one, client)
    clock.advance(day - 1)
    await getTokens(other, client)
    clock.advance(day - 1)
    const { refresh_token } = (await getTokens(other, client)).body
    clock.advance(200 * day - 1)
    expect((await refresh(one, client, refresh_token)).status).toBe(200)
  })

  test('longer than an hour from its first use, also if its registration was lost before', async () => {
    const { clock, start, loseAll } = processes()
    const [one, other] = [start(), start()]
    const client = await one.register(notesApp)
    for (const each of [one, other]) await getTokens(each, client)
    loseAll()
    clock.advance(1)
    expect((await one.register(notesApp)).body.client_id).toBe(client.body.client_id)
    const { refresh_token } = (await getTokens(other, client)).body
    clock.advance(hour)
    expect((await refresh(one, client, refresh_token)).status).toBe(200)
  })
})
