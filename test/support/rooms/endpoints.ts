import { unrestricted } from '../../../lib/authorization/transition'
import type { Authorization } from '../../../lib/authorization/authorization'
import type { ServerSettings } from '../../../lib/config/settings'
import { resolveOptions } from '../../../lib/config/resolve-options'
import type { Client, FindClient } from '../../../lib/protocol/client'
import type { AuthorizationStore } from '../../../lib/authorization/store'
import type { ServerContext } from '../../../lib/server/context'
import { createServerContext } from '../../../lib/server/create-context'
import { memoryStore } from '../../../lib/stores/memory-store'
import { restrictorsOf } from '../../../lib/token-endpoint/restrict'
import { checkedGrantType, type GrantType } from '../../../lib/token-endpoint/grant-type'
import { context, noon } from '../authorization/issue-context'
import { clientWith } from '../authorization/client'

/** A memory store that keeps what was asked to be saved, in order. */
export interface WatchedStore extends AuthorizationStore {
  readonly saved: readonly Authorization[]
}

export function watchedStore(): WatchedStore {
  const inner = memoryStore({ clock: () => noon * 1000 })
  const saved: Authorization[] = []
  return {
    saved,
    find: (id) => inner.find(id),
    save: (authorization, revision, expected) => {
      saved.push(authorization)
      return inner.save(authorization, revision, expected)
    },
    remove: (id) => inner.remove(id),
  }
}

export function clientsOf(...clients: readonly Client[]): FindClient {
  return async (clientId) => clients.find(({ client_id }) => client_id === clientId)
}

/** What tests bend of a server: its parts, and some of its settings. */
export type ServerBend = Partial<Omit<ServerContext, 'settings'>> & Partial<Pick<ServerSettings, BentSetting>>

const bentSettings = ['findClient', 'extensions', 'defaultScope', 'resources', 'dynamicRegistration'] as const
type BentSetting = (typeof bentSettings)[number]

const photos = resolveOptions({
  issuer: 'https://photos.example',
  clients: [],
  scopes: { 'photos.read': 'See your photos', 'photos.write': 'Change your photos' },
  resourceOwner: () => undefined,
  clock: () => noon * 1000,
})

/** The server with other parts and settings. */
export function bentServer(server: ServerContext, bend: ServerBend): ServerContext {
  const changes = bentSettings.flatMap((name) => (name in bend ? [[name, bend[name]]] : []))
  const settings = { ...server.settings, ...Object.fromEntries(changes) }
  const restrictors = restrictorsOf(settings.extensions, () => false)
  return { ...server, restrictors, ...bend, settings }
}

/** A server for the photo printer, at noon, on a store that keeps what was saved. It has no extensions. */
export function serverWith(bend: ServerBend = {}): ServerContext {
  const usual = bentServer(createServerContext(photos), {
    findClient: clientsOf(clientWith()),
    extensions: [],
    store: watchedStore(),
    takeCached: () => undefined,
    letArrive: async () => {},
    issueContext: (restrict = unrestricted) => context({ restrict }),
  })
  return bentServer(usual, bend)
}

/** A server whose token endpoint has these grant types of a host. */
export function tokenServer(grantTypes: readonly GrantType[], bend: ServerBend = {}): ServerContext {
  const served = new Map(grantTypes.map((grantType) => [grantType.name, checkedGrantType(grantType)]))
  return serverWith({ grantTypes: served, ...bend })
}
