import type { ClientRegistration, Store } from 'express-authorization-server'
import { generateClientSecret, memoryStore } from 'express-authorization-server'
import { registeredClients } from 'express-authorization-server/registration'
import { tokenExchange } from 'express-authorization-server/grants'
import { bent, nightlyReport } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { outcomeOf } from '../support/flows/outcome'
import { approve, configure, getTokens, ofClient, redeem, refresh } from '../support/flows/registered-client'
import {
  day,
  describeRegistration,
  hour,
  inMemory,
  notesApp,
  notesService,
  registeringOn,
  type RegisteringStage,
  storedClient,
} from '../support/flows/registering'
import { anyOwner, exchangeOf, tokenExchangeName } from '../support/flows/token-exchange'
import { but } from '../support/stores/but'

const refused = '400 invalid_client_metadata'

/** What is approved in the seconds after a removal ends, too, because clocks differ. */
const clocksApart = 6

describeRegistration('A public client that the operator removed', (stage) => {
  test('registers again under its identifier, and what it was granted before stays dead at every endpoint [registration-14]', async () => {
    const asking = bent(nightlyReport, {
      may_introspect: true,
      grant_types: ['client_credentials', tokenExchangeName],
    })
    const grantTypes = [tokenExchange({ policy: anyOwner })]
    const staged = stage({}, { clients: [asking.registration], plugins: [...grantTypes] })
    const { flow, oauth, clock } = staged
    const client = await staged.register(notesApp)
    const old = (await getTokens(staged, client)).body
    const code = await approve(staged, client)
    const page = await flow.ask(ofClient(client), 'alice')
    await oauth.deleteClient(client.body.client_id)
    expect(outcomeOf(await refresh(staged, client, old.refresh_token))).toBe('401 invalid_client')
    expect((await flow.ask(ofClient(client), 'alice')).status).toBe(400)

    clock.advance(clocksApart)
    const again = await staged.register(notesApp)
    expect([again.status, again.body]).toEqual([
      201,
      { ...client.body, client_id_issued_at: client.body.client_id_issued_at + clocksApart },
    ])
    const outcomes = async () => [
      outcomeOf(await refresh(staged, client, old.refresh_token)),
      outcomeOf(await redeem(staged, client, code)),
      outcomeOf(await flow.decide(page, 'approve', 'alice')),
      (await flow.introspect(asking, old.access_token)).body.active,
      (await flow.introspect(asking, old.refresh_token)).body.active,
      outcomeOf(await flow.request(asking, exchangeOf(old.access_token))),
    ]
    const dead = [
      '400 invalid_grant',
      '400 invalid_grant',
      'page 400 invalid_request',
      false,
      false,
      '400 invalid_request',
    ]
    expect(await outcomes()).toEqual(dead)
    const tokens = (await getTokens(staged, again)).body
    expect((await flow.introspect(asking, tokens.access_token)).body.active).toBe(true)
    expect((await refresh(staged, again, tokens.refresh_token)).status).toBe(200)
    expect(await outcomes()).toEqual(dead)
  })
})

describeRegistration('A public client that the operator disabled', (stage) => {
  test('is refused when it registers again, and stays disabled [registration-15]', async () => {
    const staged = stage()
    const client = await staged.register(notesApp)
    const { access_token, refresh_token } = (await getTokens(staged, client)).body
    await staged.oauth.disableClient(client.body.client_id)
    expect((await staged.flow.photos(access_token)).status).toBe(200)
    expect(outcomeOf(await staged.register(notesApp))).toBe(refused)
    expect(staged.failures.map(({ reason }) => reason)).toContain('client_metadata_disabled')
    expect((await staged.flow.ask(ofClient(client), 'alice')).status).toBe(400)
    expect(outcomeOf(await refresh(staged, client, refresh_token))).toBe('401 invalid_client')
  })
})

describe('A disabled client', () => {
  const stage = registeringOn(inMemory)

  test.each([false, true])(
    'stays disabled as long as any of its tokens could live (in use: %s)',
    async (isUsed) => {
      const staged = stage({}, { lifetimes: { refreshToken: 200 * day } })
      const client = await staged.register(notesApp)
      if (isUsed) await getTokens(staged, client)
      await staged.oauth.disableClient(client.body.client_id)
      staged.clock.advance(200 * day - 1)
      expect(outcomeOf(await staged.register(notesApp))).toBe(refused)
    },
  )
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
    const store = registeredClients(memoryStore())
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
      expect(await storedClient(staged, client_id)).toBeUndefined()
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
      expect(await storedClient(staged, client_id)).toBeUndefined()
      expect((await staged.register({ ...notesApp, client_name: 'Other' })).status).toBe(201)
    }
  })

  test('an entry of the host holds, although a client of the identifier registered itself before', async () => {
    const before = stage()
    const client = await before.register(notesApp)
    const ask = async (clients: Awaited<ReturnType<typeof sources>>[number], scope: string) =>
      (await stage({}, { store: before.store, clients }).flow.ask({ ...ofClient(client), scope }, 'alice'))
        .status
    for (const clients of await sources(appOf(client.body.client_id)))
      expect(await ask(clients, 'photos:print')).toBe(200)
    for (const clients of await sources(appOf(client.body.client_id, { disabled: true })))
      expect(await ask(clients, 'photos:read')).toBe(400)
  })

  test('the host takes over a client on the same store: it keeps its tokens, and can no longer change itself', async () => {
    const store = memoryStore()
    const clients = registeredClients(store)
    const staged = stage({}, { store, clients })
    const [client, service] = [await staged.register(notesApp), await staged.register(notesService)]
    const { refresh_token } = (await getTokens(staged, client)).body
    const id: string = client.body.client_id
    await staged.oauth.registerClient(appOf(id))
    await expect(staged.oauth.registerClient(appOf(id))).rejects.toThrow('is taken')
    expect(await clients.list()).toMatchObject([{ client_id: id, client_name: 'Notes, checked' }])
    staged.clock.advance(61)
    expect((await refresh(staged, client, refresh_token)).status).toBe(200)
    expect((await staged.register(notesApp)).body).toMatchObject({ client_name: 'Notes, checked' })
    const checked = (await storedClient(staged, service.body.client_id)).registration
    await clients.add(checked)
    expect(outcomeOf(await configure(staged, 'delete', service))).toBe('401 invalid_token')
    expect((await getTokens(staged, service)).status).toBe(200)
  })

  test('a registration overwrites none of them, also where the server looks elsewhere', async () => {
    const store = memoryStore()
    const clients = registeredClients(store)
    await clients.add(appOf(await idOf()))
    const staged = stage({}, { store })
    expect(outcomeOf(await staged.register(notesApp))).toBe(refused)
    expect(await clients.list()).toMatchObject([{ client_name: 'Notes, checked' }])
  })

  test('an entry that the store of the host gets later holds at once', async () => {
    const clients = registeredClients(memoryStore())
    const staged = stage({}, { clients })
    const client = await staged.register(notesApp)
    const ask = async () => (await staged.flow.ask(ofClient(client), 'alice')).status
    expect(await ask()).toBe(200)
    await clients.add(appOf(client.body.client_id, { disabled: true }))
    expect(await ask()).toBe(400)
  })
})

/** A server of an issuer on a store that it shares with others. */
function serverOf(
  { clock, store }: Pick<RegisteringStage, 'clock' | 'store'>,
  issuer: string,
  registration = {},
): RegisteringStage {
  return { ...registeringOn(() => store)(registration, { issuer, clock: clock.read }), clock }
}

const shared = () => {
  const clock = new Clock()
  return { clock, store: memoryStore({ clock: clock.read }) }
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
    let clients: Store = memoryStore({ clock: clock.read })
    const of = (key: string) => (key.startsWith('client:') ? clients : store)
    // Stands for a Redis that may lose its keys.
    const losing = () =>
      but(store, {
        read: (key) => of(key).read(key),
        write: (key, ...words) => of(key).write(key, ...words),
      })
    const loseAll = () => void (clients = memoryStore({ clock: clock.read }))
    const start = () => registeringOn(losing)({}, { clock: clock.read, ...options })
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
