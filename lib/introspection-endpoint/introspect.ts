import { type Access, type FindAccess, type FoundAccess, presentRefreshToken } from '../authorization/lookup'
import type { Client } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import type { Json } from '../protocol/extension'
import { unauthorizedClient } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { formatScope } from '../protocol/scope'
import type { AuthorizationStore } from '../stores/authorization-store'

/** The parts of the server that the introspection endpoint uses. */
export interface IntrospectionEndpoint {
  readonly issuer: string
  readonly store: AuthorizationStore
  /** Finds an access token of this server that counts here. */
  readonly findAccess: FindAccess
  /** Returns the members that plug-ins add to the response about an access token. */
  readonly describe: (found: FoundAccess) => Readonly<Record<string, Json>>
  /** Seconds since the epoch. */
  readonly now: () => number
}

/**
 * Describes a token to a resource server (RFC 7662 2). The registration of the client must have `may_introspect`: a
 * client that may introspect could try out tokens (RFC 7662 2.1 and 4).
 *
 * @throws OAuthError `unauthorized_client`, or `invalid_request` if the request has no token.
 */
export async function introspect(
  endpoint: IntrospectionEndpoint,
  { client, parameters }: { readonly client: Client; readonly parameters: Parameters },
): Promise<Introspection> {
  if (!client.may_introspect)
    throw unauthorizedClient('introspection_not_registered', 'The client may not introspect tokens.')
  const token = parameters.require('token')
  const { issuer, findAccess, now, describe } = endpoint
  const found = await findAccess(token, now())
  if (found !== undefined)
    return {
      ...describe(found),
      ...introspectionOf(found.access, { issuer, tokenType: found.access.tokenType }),
    }
  const refresh = await refreshBy(endpoint, token)
  // Only the client of a refresh token gets an answer about the token.
  return refresh?.clientId === client.client_id ? introspectionOf(refresh, { issuer }) : inactive
}

async function refreshBy({ store, now }: IntrospectionEndpoint, token: string): Promise<Access | undefined> {
  const id = credentialId('refreshToken', token)
  if (id === undefined) return undefined
  return presentRefreshToken((await store.find(id))?.authorization, token, now())
}

/**
 * An introspection response (RFC 7662 2.2). The response omits a member that does not apply, and never contains null.
 */
export type Introspection = { readonly active: false } | ActiveToken

interface ActiveToken {
  readonly active: true
  readonly scope: string
  readonly client_id: string
  /** Omitted for a refresh token, which no resource accepts. */
  readonly token_type?: string
  readonly exp: number
  readonly sub: string
  readonly iss: string
}

/**
 * The response about a token that is not valid (RFC 7662 2.2). The response shows neither the reason nor whether the
 * token was ever valid.
 */
export const inactive: Introspection = { active: false }

/** The response about a valid token. */
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
    // RFC 9068 2.2: if a client acts for itself, `sub` is the client. Resource servers read `sub`.
    sub: subject ?? clientId,
    iss: issuer,
  }
}
