import { findAccess } from '../authorization/find-access'
import type { Access } from '../authorization/present-access-token'
import { presentRefreshToken } from '../authorization/present-refresh-token'
import type { ExtensionData, Json } from '../protocol/bindings'
import type { Client } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import { unauthorizedClient } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import type { AuthorizationStore } from '../stores/authorization-store'
import { inactive, introspectionOf, type Introspection } from './introspection'

/** What the introspection endpoint works with. */
export interface IntrospectionEndpoint {
  readonly issuer: string
  readonly store: AuthorizationStore
  /** What is added about what an authorization keeps. */
  readonly describe: (extensionData: ExtensionData) => Readonly<Record<string, Json>>
  /** Seconds since the epoch. */
  readonly now: () => number
}

/**
 * Tells a resource server about a token (RFC 7662 2). Clients that are not registered for it learn nothing: whoever
 * may ask could try tokens out (RFC 7662 2.1 and 4).
 *
 * @throws OAuthError `unauthorized_client`, or `invalid_request` when there is no token.
 */
export async function introspect(
  endpoint: IntrospectionEndpoint,
  client: Client,
  parameters: Parameters,
): Promise<Introspection> {
  if (!client.may_introspect)
    throw unauthorizedClient('introspection_not_registered', 'The client may not introspect tokens.')
  const token = parameters.require('token')
  const { issuer, store, now, describe } = endpoint
  const found = await findAccess(store, token, now())
  if (found !== undefined)
    return {
      ...describe(found.extensionData),
      ...introspectionOf(found.access, { issuer, tokenType: found.access.tokenType }),
    }
  const refresh = await refreshBy(endpoint, token)
  // A refresh token is no business of anybody but the client that holds it.
  return refresh?.clientId === client.client_id ? introspectionOf(refresh, { issuer }) : inactive
}

async function refreshBy({ store, now }: IntrospectionEndpoint, token: string): Promise<Access | undefined> {
  const id = credentialId('refreshToken', token)
  if (id === undefined) return undefined
  return presentRefreshToken((await store.find(id))?.authorization, token, now())
}
