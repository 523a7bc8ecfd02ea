import { clientRegistrar } from '../../lib/clients/client-registrar'
import {
  createAuthorizationServer,
  deleteClient,
  memoryClients,
  memoryDynamicClients,
  type AuthorizationServerOptions,
  type ClientRegistry,
  type DynamicClientAddition,
} from '../../lib/index'
import type { SelfRegisteredClients } from '../../lib/clients/self-registered'
import { anyCapabilities } from '../../lib/protocol/parse-client'
import { canonicalOptions } from '../support/flows/application'
import { webMetadata } from '../support/flows/registered'

const serverWith = (clients: ClientRegistry, bend: Partial<AuthorizationServerOptions> = {}) =>
  createAuthorizationServer({ ...canonicalOptions, clients, storeDeadline: 0.05, ...bend })

const refused = () => Promise.reject(new Error('No voucher is good here.'))

describe('registration on the server object', () => {
  it('is held to what the server offers', async () => {
    const oauth = serverWith(memoryClients())
    const beyond = { ...webMetadata, scope: 'photos:delete', grant_types: ['implicit', 'authorization_code'] }
    await expect(oauth.registerClient(beyond)).rejects.toMatchObject({
      issues: [{ path: 'grant_types' }, { path: 'scope' }],
    })
  })

  it('is held to clients for themselves where there is no authorization endpoint', async () => {
    const { resourceOwner: _none, ...options } = canonicalOptions
    const oauth = createAuthorizationServer({ ...options, clients: memoryClients() })
    await expect(oauth.registerClient(webMetadata)).rejects.toMatchObject({
      issues: expect.arrayContaining([expect.objectContaining({ path: 'grant_types' })]),
    })
    const alone = {
      client_type: 'confidential',
      grant_types: ['client_credentials'],
      scope: 'reports:write',
    } as const
    expect((await oauth.registerClient(alone)).client_secret).toHaveLength(43)
  })

  it('lets them use the grants of the host there, and refresh what they get by them', async () => {
    const { resourceOwner: _none, ...options } = canonicalOptions
    const grantTypes = [{ name: 'urn:example:voucher', parameters: [], handle: refused }]
    const oauth = createAuthorizationServer({ ...options, grantTypes, clients: memoryClients() })
    const grant_types = ['urn:example:voucher', 'refresh_token']
    const { client_id } = await oauth.registerClient({
      client_type: 'confidential',
      grant_types,
      scope: 'photos:read',
    })
    expect(client_id).toHaveLength(22)
  })

  it.each(['fails', 'hangs'])('asks to try again while the store %s', async (trouble) => {
    const call = () =>
      trouble === 'fails' ? Promise.reject(new Error('refused')) : new Promise<never>(() => {})
    const oauth = serverWith({ find: call, add: call, update: call, list: call })
    for (const act of [
      () => oauth.registerClient(webMetadata),
      () => oauth.rotateClientSecret('x'),
      () => oauth.dropOldClientSecrets('x'),
      () => oauth.disableClient('x'),
      () => oauth.enableClient('x'),
      () => oauth.changeClient('x', {}),
      () => oauth.deleteClient('x'),
    ])
      await expect(act()).rejects.toMatchObject({
        code: 'temporarily_unavailable',
        reason: 'store_unavailable',
      })
  })

  it('distinguishes a refusal from a failing store', async () => {
    const clients = memoryClients()
    await clients.add({
      client_id: 'phone',
      client_type: 'public',
      redirect_uris: ['https://a.example/'],
      scope: 'photos:read',
    })
    await expect(serverWith(clients).rotateClientSecret('phone')).rejects.toMatchObject({
      name: 'ConfigurationError',
      issues: [{ path: 'client_secret_hashes' }],
    })
    const rolledBack: typeof clients.update = (...words) =>
      clients.update(...words).catch((cause: unknown) => {
        throw new Error('The transaction was rolled back.', { cause })
      })
    const wrapping = {
      find: clients.find.bind(clients),
      add: clients.add.bind(clients),
      update: rolledBack,
      list: clients.list.bind(clients),
    }
    await expect(serverWith(wrapping).rotateClientSecret('phone')).rejects.toMatchObject({
      name: 'ConfigurationError',
      issues: [{ path: 'client_secret_hashes' }],
    })
  })
})

/** A function as a caller without types may call it. */
type Javascript = { bivariant(given: unknown): Promise<void> }['bivariant']

describe('the registrar', () => {
  const web = { client_type: 'confidential', grant_types: ['client_credentials'], scope: 'a' } as const
  const dynamic = (client_id: string): DynamicClientAddition => ({
    client: {
      registration: { client_id, client_type: 'public', redirect_uris: ['https://a.example/'], scope: 'a' },
      issuedAt: 1,
      secretExpiries: [],
      registrationTokenDigest: undefined,
    },
    lifetime: 3600,
    maximum: 10,
  })

  const open = () => {
    const [clients, dynamicClients] = [memoryClients(), memoryDynamicClients()]
    const revoked: [string, unknown][] = []
    let isFailing = false
    const revokeClient = async (clientId: string) => {
      if (isFailing) throw new Error('The index failed.')
      const found = (await clients.find(clientId)) ?? (await dynamicClients.find(clientId))?.registration
      revoked.push([clientId, found?.disabled])
    }
    const registrar = clientRegistrar(clients, anyCapabilities, revokeClient, dynamicClients)
    return { clients, dynamicClients, revoked, registrar, fail: (failing: boolean) => (isFailing = failing) }
  }

  it('ends what a client has after it is disabled or deleted, and for no other change', async () => {
    const { dynamicClients, revoked, registrar } = open()
    const { client_id } = await registrar.registerClient(web)
    await dynamicClients.add(dynamic('dynamic'))
    await registrar.changeClient(client_id, { client_name: 'A' })
    await registrar.enableClient(client_id)
    expect(revoked).toEqual([])
    for (const id of [client_id, 'dynamic']) {
      await registrar.disableClient(id)
      await registrar.deleteClient(id)
    }
    expect(revoked).toEqual([client_id, client_id, 'dynamic', 'dynamic'].map((id) => [id, true]))
  })

  it('shuts a client out before it ends what the client has, also where nobody disabled it first', async () => {
    const { dynamicClients, revoked, registrar } = open()
    const { client_id } = await registrar.registerClient(web)
    await dynamicClients.add(dynamic('dynamic'))
    for (const id of [client_id, 'dynamic']) await registrar.deleteClient(id)
    expect(revoked).toEqual([
      [client_id, true],
      ['dynamic', true],
    ])
  })

  it('refuses what names no client, among registered ones and among those that registered themselves', async () => {
    const { revoked, registrar } = open()
    const javascript: Record<'disableClient' | 'enableClient' | 'deleteClient', Javascript> = registrar
    const { disableClient, enableClient, deleteClient: remove } = javascript
    for (const act of [disableClient, enableClient, remove])
      for (const id of ['nobody', '', '__proto__', undefined, null, 7, ['dynamic'], {}])
        await expect(act(id)).rejects.toMatchObject({ issues: [{ path: 'client_id' }] })
    expect(revoked).toEqual([])
  })

  it('asks no store for what is no text, before a database can take it for one', async () => {
    const find = jest.fn()
    const update = jest.fn()
    const clients = { find, update, add: jest.fn(), list: jest.fn() }
    const selfRegistered = { update, remove: jest.fn() }
    const registrar: Record<'disableClient' | 'enableClient' | 'deleteClient', Javascript> = clientRegistrar(
      clients,
      anyCapabilities,
      undefined,
      selfRegistered,
    )
    const { disableClient, enableClient, deleteClient: remove } = registrar
    for (const act of [disableClient, enableClient, remove])
      for (const id of [undefined, 7, ['dynamic'], {}])
        await expect(act(id)).rejects.toMatchObject({ issues: [{ path: 'client_id' }] })
    expect([...find.mock.calls, ...update.mock.calls]).toEqual([])
  })

  it('writes nothing of a client that registered itself and is disabled already', async () => {
    const { client } = dynamic('dynamic')
    const isSame: boolean[] = []
    const selfRegistered: SelfRegisteredClients = {
      update: async (_clientId, change) => {
        const before = { ...client, registration: { ...client.registration, disabled: true } }
        const after = change(before)
        isSame.push(after === before)
        return after
      },
      remove: async () => {},
    }
    const registrar = clientRegistrar(undefined, anyCapabilities, undefined, selfRegistered)
    await registrar.disableClient('dynamic')
    await registrar.enableClient('dynamic')
    expect(isSame).toEqual([true, false])
  })

  it('finishes a deletion that failed half-way, when it is repeated', async () => {
    const { clients, dynamicClients, revoked, registrar, fail } = open()
    const { client_id } = await registrar.registerClient(web)
    await dynamicClients.add(dynamic('dynamic'))
    fail(true)
    for (const id of [client_id, 'dynamic'])
      await expect(registrar.deleteClient(id)).rejects.toThrow('failed')
    expect(await dynamicClients.find('dynamic')).toMatchObject({ registration: { disabled: true } })
    fail(false)
    for (const id of [client_id, 'dynamic']) await registrar.deleteClient(id)
    expect(revoked.map(([id]) => id)).toEqual([client_id, 'dynamic'])
    expect(await clients.find(client_id)).toMatchObject({ deleted: true })
    expect(await dynamicClients.find('dynamic')).toBeUndefined()
  })

  it('takes the registration of the host before a client that registered itself', async () => {
    const { clients, dynamicClients, registrar } = open()
    await dynamicClients.add(dynamic('both'))
    await clients.add({
      client_id: 'both',
      client_type: 'public',
      redirect_uris: ['https://a.example/'],
      scope: 'a',
    })
    await registrar.deleteClient('both')
    expect(await clients.find('both')).toMatchObject({ deleted: true })
    expect(await dynamicClients.find('both')).not.toHaveProperty('registration.disabled')
  })

  it('says that a registry has lost what makes a client deleted', async () => {
    const clients = memoryClients()
    const forgetful: ClientRegistry = {
      find: (clientId) => clients.find(clientId),
      add: (registration) => clients.add(registration),
      list: () => clients.list(),
      update: (clientId, change) =>
        clients.update(clientId, (current) => {
          const { deleted: _lost, ...kept } = change(current)
          return kept
        }),
    }
    const { client_id } = await clientRegistrar(
      forgetful,
      anyCapabilities,
      undefined,
      undefined,
    ).registerClient(web)
    await expect(deleteClient(forgetful, client_id)).rejects.toThrow('has lost the member deleted')
    expect(await clients.find(client_id)).toMatchObject({ disabled: true })
  })
})
