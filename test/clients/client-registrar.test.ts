import {
  createAuthorizationServer,
  memoryClients,
  type AuthorizationServerOptions,
  type ClientRegistry,
} from '../../lib/index'
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
