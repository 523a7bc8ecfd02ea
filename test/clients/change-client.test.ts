import { ConfigurationError } from '../../lib/primitives/options-reader'
import { dropOldClientSecrets, rotateClientSecret } from '../../lib/clients/client-secrets'
import { disableClient, enableClient } from '../../lib/clients/change-registration'
import { registerClient } from '../../lib/clients/register-client'
import { memoryClients } from '../../lib/stores/memory-clients'
import { decodeRegistration } from '../../lib/clients/client-store'

const web = { client_type: 'confidential', grant_types: ['client_credentials'], scope: 'a' } as const
const phone = { client_type: 'public', redirect_uris: ['https://a.example/'], scope: 'a' } as const

/** A record that was written into a store by hand. */
const stored = (content: object) => decodeRegistration(JSON.stringify(content))

const acts = { rotateClientSecret, dropOldClientSecrets, disableClient, enableClient }

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
