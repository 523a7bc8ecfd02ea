import { resolveOptions } from '../../lib/config/resolve-options'
import type { ClientSource, ClientSourceServer, OpenClients } from '../../lib/clients/client-source'
import { memoryClients } from '../../lib/stores/memory-clients'
import { memoryStore } from '../../lib/stores/memory-store'
import type { SharedCache } from '../../lib/clients/shared-cache'
import { mistakesWith } from '../support/rooms/mistakes'
import { optionsWith, phone, printer } from '../support/rooms/registrations'

const nobody: OpenClients = { find: () => undefined }

function opening(open: (server: ClientSourceServer) => OpenClients = () => nobody, bend: object = {}) {
  const seen: ClientSourceServer[] = []
  const clients: ClientSource = {
    open(server) {
      seen.push(server)
      return open(server)
    },
  }
  const settings = resolveOptions(optionsWith({ clients, ...bend }))
  const [server] = seen
  if (server === undefined || seen.length > 1) throw new Error('The source was not opened once.')
  return { settings, server }
}

describe('A source of clients', () => {
  it('is opened once, with the values of the server', () => {
    const clock = () => 7
    const { server } = opening(undefined, { clock })
    expect(server).toMatchObject({
      issuer: 'http://localhost',
      hasAuthorizationEndpoint: true,
      clock,
      capabilities: { tokenTypes: ['bearer'] },
    })
    expect(opening(undefined, { resourceOwner: undefined }).server.hasAuthorizationEndpoint).toBe(false)
  })

  it('finds the clients of the server, and adds members to its metadata', async () => {
    const { settings, server } = opening((own) => ({
      find: (clientId) => (clientId === 'phone' ? own.parse({ ...phone, client_id: clientId }) : undefined),
      metadata: { found_here: true },
    }))
    expect(settings).toMatchObject({ clientMetadata: { found_here: true }, registered: undefined })
    expect(await settings.findClient('phone')).toMatchObject({ client_id: 'phone' })
    expect(settings.findClient('tablet')).toBeUndefined()
    expect(() => server.parse({ ...phone, scope: 'unheard' })).toThrow('scope')
  })

  it('may open registered clients, which the server registers, too', async () => {
    const registry = memoryClients()
    await registry.add(printer)
    const { settings } = opening((server) => server.openRegistered(registry, 'known'))
    expect(settings).toMatchObject({ clientRegistry: registry, registered: { path: 'clients.known' } })
    expect(await settings.findClient(printer.client_id)).toMatchObject({ client_id: printer.client_id })
  })

  it('reports mistakes with those of the options', () => {
    const clients: ClientSource = {
      open(server) {
        server.wrong('', 'is nothing.')
        server.wrong('allow[0]', 'is no host.')
        server.openRegistered([{ ...printer, scope: '' }], 'known')
        return server.openRegistered('none', 'unknown')
      },
    }
    const paths = mistakesWith({ clients, login: '' }).map(({ path }) => path)
    expect(paths).toEqual([
      'clients',
      'clients.allow[0]',
      'clients.known[0].scope',
      'clients.unknown',
      'login',
    ])
  })

  describe('shares a cache', () => {
    const cacheOf = (sharedCache: SharedCache, bend: object = {}) =>
      opening(undefined, { store: Object.assign(memoryStore(), { sharedCache }), ...bend }).server.sharedCache

    it('of the store', async () => {
      const kept = new Map<string, string>()
      const cache = cacheOf({
        get: async (key) => kept.get(key),
        set: async (key, text) => void kept.set(key, text),
      })
      await cache.set('a', 'text', 60)
      expect([...kept]).toEqual([['a', 'text']])
      expect(await cache.get('a')).toBe('text')
    })

    it('whose failure is a failure of the store', async () => {
      const never = new Promise<never>(() => {})
      const slow = cacheOf({ get: () => never, set: () => never }, { storeDeadline: 0.01 })
      await expect(slow.get('a')).rejects.toMatchObject({ reason: 'store_unavailable' })
      await expect(slow.set('a', 'text', 60)).rejects.toMatchObject({ reason: 'store_unavailable' })
    })

    it('in memory, if the store has none', async () => {
      const { sharedCache } = opening().server
      await sharedCache.set('a', 'text', 60)
      expect(await sharedCache.get('a')).toBe('text')
      expect(await opening().server.sharedCache.get('a')).toBeUndefined()
    })
  })
})
