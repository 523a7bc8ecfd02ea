import { ConfigurationError } from '../../lib/primitives/options-reader'
import { dropOldClientSecrets, rotateClientSecret } from '../../lib/clients/client-secrets'
import { changeClient } from '../../lib/clients/change-client'
import { deleteClient, disableClient, enableClient } from '../../lib/clients/change-registration'
import { registerClient } from '../../lib/clients/register-client'
import { memoryClients } from '../../lib/stores/memory-clients'
import { type ClientRegistry, decodeRegistration } from '../../lib/clients/client-store'

const web = { client_type: 'confidential', grant_types: ['client_credentials'], scope: 'a' } as const
const phone = { client_type: 'public', redirect_uris: ['https://a.example/'], scope: 'a' } as const

/** A record that was written into a store by hand. */
const stored = (content: object) => decodeRegistration(JSON.stringify(content))

const rename = (clients: ClientRegistry, id: string) => changeClient(clients, id, { client_name: 'A' })
const acts = { rotateClientSecret, dropOldClientSecrets, disableClient, enableClient, deleteClient, rename }

describe.each(Object.entries(acts))('%s', (_name, act) => {
  it('refuses a client that does not exist, and makes none', async () => {
    const clients = memoryClients()
    for (const id of ['nobody', '', '__proto__', 'constructor'])
      await expect(act(clients, id)).rejects.toMatchObject({
        name: 'ConfigurationError',
        issues: [{ path: 'client_id' }],
      })
    expect(await clients.list()).toEqual([])
  })

  it('refuses what is no text, before a database can take it for one', async () => {
    const clients = { ...memoryClients(), update: jest.fn() }
    const javascript: { act(...given: unknown[]): Promise<unknown> } = { act }
    for (const id of [undefined, null, 7, ['photos'], {}])
      await expect(javascript.act(clients, id)).rejects.toThrow(ConfigurationError)
    expect(clients.update).not.toHaveBeenCalled()
  })
})

describe('rotateClientSecret and dropOldClientSecrets', () => {
  it.each([rotateClientSecret, dropOldClientSecrets])(
    'leave a client without a secret as it is',
    async (act) => {
      const clients = memoryClients()
      const { client_id } = await registerClient(clients, phone)
      const before = await clients.find(client_id)
      await expect(act(clients, client_id)).rejects.toThrow('has no secret')
      expect(await clients.find(client_id)).toBe(before)
    },
  )

  it.each([
    ['text in the place of digests', { client_secret_hashes: 'sha256:x' }],
    ['a secret in the place of a digest', { client_secret_hashes: ['a secret itself'] }],
    ['no type', { client_type: undefined }],
  ])('do not rewrite a corrupt registration: %s', async (_what, broken) => {
    const clients = memoryClients()
    await clients.add(stored({ ...web, client_id: 'broken', ...broken }))
    const before = await clients.find('broken')
    await expect(rotateClientSecret(clients, 'broken')).rejects.toThrow(ConfigurationError)
    expect(await clients.find('broken')).toBe(before)
  })

  it('append the new digest behind the current one, and keep two', async () => {
    const clients = memoryClients()
    const { client_id } = await registerClient(clients, web)
    const hashes = async () => (await clients.find(client_id))?.client_secret_hashes ?? []
    const [first] = await hashes()
    await rotateClientSecret(clients, client_id)
    const [kept, second] = await hashes()
    expect(kept).toBe(first)
    await rotateClientSecret(clients, client_id)
    const [now, third, ...others] = await hashes()
    expect([now, others]).toEqual([second, []])
    await dropOldClientSecrets(clients, client_id)
    expect(await hashes()).toEqual([third])
  })

  it('change nothing else', async () => {
    const clients = memoryClients()
    const { client_id } = await registerClient(clients, web)
    const before = await clients.find(client_id)
    await rotateClientSecret(clients, client_id)
    await disableClient(clients, client_id)
    const { client_secret_hashes: _new, ...after } = (await clients.find(client_id)) ?? {}
    const { client_secret_hashes: _old, ...rest } = before ?? {}
    expect(after).toEqual({ ...rest, disabled: true })
  })
})

describe('changeClient', () => {
  it('writes nothing that is so already', async () => {
    const clients = memoryClients()
    const { client_id } = await registerClient(clients, { ...phone, client_name: 'A' })
    const before = await clients.find(client_id)
    await changeClient(clients, client_id, { client_name: 'A', redirect_uris: [...phone.redirect_uris] })
    await changeClient(clients, client_id, {})
    expect(await clients.find(client_id)).toBe(before)
  })

  it.each([undefined, null, 7, 'text', []])('refuses a change that is no object: %j', async (change) => {
    const clients = memoryClients()
    const { client_id } = await registerClient(clients, phone)
    const javascript: { act(...given: unknown[]): Promise<unknown> } = { act: changeClient }
    await expect(javascript.act(clients, client_id, change)).rejects.toThrow(ConfigurationError)
  })

  it.each([
    ['client_secret_hashes', ['sha256:x'], 'rotateClientSecret()'],
    ['disabled', true, 'disableClient()'],
    ['deleted', true, 'deleteClient()'],
  ])('says for the member %s which function changes it', async (member, value, name) => {
    const clients = memoryClients()
    const { client_id } = await registerClient(clients, phone)
    const change = Object.fromEntries([[member, value]])
    await expect(changeClient(clients, client_id, change)).rejects.toMatchObject({
      issues: [{ path: member, message: expect.stringContaining(name) }],
    })
  })

  it('repairs a registration that was broken by hand', async () => {
    const clients = memoryClients()
    await clients.add(stored({ ...phone, client_id: 'broken', redirect_uris: ['/x'], logo_uri: 7 }))
    await expect(changeClient(clients, 'broken', { client_name: 'A' })).rejects.toMatchObject({
      issues: [{ path: 'redirect_uris[0]' }, { path: 'logo_uri' }],
    })
    await changeClient(clients, 'broken', { redirect_uris: phone.redirect_uris, logo_uri: null })
    expect(await clients.find('broken')).toMatchObject(phone)
  })
})

describe('deleteClient', () => {
  it('writes nothing for a client that is deleted already', async () => {
    const clients = memoryClients()
    const { client_id } = await registerClient(clients, web)
    await deleteClient(clients, client_id)
    const before = await clients.find(client_id)
    await deleteClient(clients, client_id)
    expect(await clients.find(client_id)).toBe(before)
  })

  it('deletes even a client whose registration cannot work', async () => {
    const clients = memoryClients()
    await clients.add(stored({ ...web, client_id: 'broken', scope: 7 }))
    await deleteClient(clients, 'broken')
    expect(await clients.find('broken')).toEqual({
      client_id: 'broken',
      client_type: 'confidential',
      scope: '',
      disabled: true,
      deleted: true,
    })
  })
})

describe('disableClient and enableClient', () => {
  it('write nothing that is so already', async () => {
    const clients = memoryClients()
    const { client_id } = await registerClient(clients, web)
    const enabled = await clients.find(client_id)
    await enableClient(clients, client_id)
    expect(await clients.find(client_id)).toBe(enabled)
    await disableClient(clients, client_id)
    const disabled = await clients.find(client_id)
    await disableClient(clients, client_id)
    expect(await clients.find(client_id)).toBe(disabled)
  })

  it('shut out even a client whose registration cannot work', async () => {
    const clients = memoryClients()
    await clients.add(stored({ ...web, client_id: 'broken', scope: 7 }))
    await disableClient(clients, 'broken')
    expect(await clients.find('broken')).toMatchObject({ disabled: true })
  })
})
