import { unrestricted } from '../../../lib/authorization/transition'
import type { AuthorizationEndpoint } from '../../../lib/authorization-endpoint/authorize'
import { codeResponseType, ResponseTypes } from '../../../lib/authorization-endpoint/response-types'
import type { Authorization } from '../../../lib/authorization/authorization'
import type { Client, FindClient } from '../../../lib/protocol/client'
import type { AuthorizationStore } from '../../../lib/stores/authorization-store'
import { memoryCounters } from '../../../lib/stores/memory-counters'
import { memoryStore } from '../../../lib/stores/memory-store'
import type { TokenEndpoint } from '../../../lib/token-endpoint/exchange'
import type { GrantType } from '../../../lib/token-endpoint/grant-type'
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

/** A token endpoint with these grant types, at noon. */
export function tokenEndpoint(
  grantTypes: readonly GrantType[],
  bend: Partial<TokenEndpoint> = {},
): TokenEndpoint {
  return {
    issuer: 'https://photos.example',
    grantTypes: new Map(grantTypes.map((grantType) => [grantType.name, grantType])),
    extensions: [],
    resources: undefined,
    defaultScope: [],
    tokenType: 'bearer',
    store: watchedStore(),
    takeCached: () => undefined,
    findAccess: async () => undefined,
    counters: memoryCounters(),
    issueLimits: { requireRoom: () => {} },
    issueContext: (restrict = unrestricted) => context({ restrict }),
    ...bend,
  }
}

/** An authorization endpoint for the photo printer, at noon. */
export function authorizationEndpoint(bend: Partial<AuthorizationEndpoint> = {}): AuthorizationEndpoint {
  return {
    issuer: 'https://photos.example',
    errorUri: undefined,
    requireService: async () => {},
    responseTypes: new ResponseTypes([codeResponseType]),
    extensions: [],
    defaultScope: [],
    tokenType: 'bearer',
    findClient: clientsOf(clientWith()),
    store: watchedStore(),
    takeCached: () => undefined,
    openRequests: { opened: () => {}, ended: () => {} },
    letArrive: async () => {},
    issueContext: () => context(),
    ...bend,
  }
}
