import { type Access, findAccess, presentRefreshToken } from '../authorization/lookup'
import type { Client } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import type { ExtensionData, Json } from '../protocol/extension'
import { unauthorizedClient } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { formatScope } from '../protocol/scope'
import type { AuthorizationStore } from '../stores/authorization-store'

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
  { client, parameters }: { readonly client: Client; readonly parameters: Parameters },
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

/** An introspection response (RFC 7662 2.2); what does not apply is left out, never null. */
export type Introspection = { readonly active: false } | ActiveToken

interface ActiveToken {
  readonly active: true
  readonly scope: string
  readonly client_id: string
  /** Left out for a refresh token: no request is made with one. */
  readonly token_type?: string
  readonly exp: number
  readonly sub: string
  readonly iss: string
}

/** All that is said of a token that is not good (RFC 7662 2.2): not why, and not whether it ever was. */
export const inactive: Introspection = { active: false }

/** What is said of a token that is good right now. */
export function introspectionOf(
  { scope, clientId, subject, expiresAt }: Access,
  { issuer, tokenType }: { readonly issuer: string; readonly tokenType?: string },
): Introspection {
  return {
    active: true,
    scope: formatScope(scope),
    client_id: clientId,
    ...(tokenType === undefined ? {} : { token_type: tokenType }),
    exp: expiresAt,
    // A client that acts for itself is its own subject (RFC 9068 2.2 has it so, and resource servers read it).
    sub: subject ?? clientId,
    iss: issuer,
  }
}
