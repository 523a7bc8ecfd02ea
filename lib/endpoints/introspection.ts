import { lifetimesFor } from '../authorization/lifetimes'
import { type Access, type FoundAccess, findRefreshTokenIn } from '../authorization/lookup'
import { withConfirmation } from '../protocol/confirmation'
import { described } from '../protocol/acting-extensions'
import type { Client } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import { dataOf } from '../protocol/extension-data'
import type { Json } from '../protocol/json'
import { refused } from '../protocol/refusals'
import type { Parameters } from '../protocol/parameters'
import { formatScope } from '../protocol/scope'
import type { Context } from '../doors/context'

/** RFC 7662 2. Needs `may_introspect`: a client could try out tokens (RFC 7662 2.1 and 4). */
export async function introspect(
  server: Context,
  { client, parameters }: { readonly client: Client; readonly parameters: Parameters },
): Promise<Introspection> {
  if (!client.may_introspect) throw refused('introspection_not_registered')
  const token = parameters.require('token')
  const { settings, store, now } = server
  const { issuer } = settings
  const found = await store.findAccess(token, now())
  if (found !== undefined) {
    const { access } = found
    const sub = await subjectFor(server, access)
    if (sub === undefined) return inactive
    return {
      ...membersOfPlugins(server, found),
      ...introspectionOf(access, { issuer, sub, tokenType: access.tokenType }),
    }
  }
  // RFC 7662 4: no resource takes a refresh token.
  if (parameters.get('token_type_hint') === 'access_token') return inactive
  const refresh = await refreshBy(server, client, token)
  if (refresh?.clientId !== client.client_id) return inactive
  const sub = subjectOf(server, refresh, client)
  return { ...introspectionOf(refresh, { issuer, sub }), token_use: 'refresh_token' }
}

/** If an extension publishes subjects, and the client is gone, the host's subject must not show. */
async function subjectFor(server: Context, access: Access): Promise<string | undefined> {
  if (server.plugins.publishedSubject === undefined || access.subject === undefined)
    return subjectOf(server, access)
  const client = await server.settings.findClient(access.clientId)
  return client && subjectOf(server, access, client)
}

function subjectOf(
  { plugins: { publishedSubject } }: Context,
  { subject, clientId }: Access,
  client?: Client,
): string {
  // RFC 9068 2.2: `sub` is the client that acts for itself. Resource servers read it.
  if (subject === undefined) return clientId
  return publishedSubject === undefined || client === undefined ? subject : publishedSubject(subject, client)
}

async function refreshBy(
  { store, now, settings }: Context,
  client: Client,
  token: string,
): Promise<Access | undefined> {
  const id = credentialId('refreshToken', token)
  if (id === undefined) return undefined
  const lifetimes = lifetimesFor(client, settings.lifetimes)
  return findRefreshTokenIn((await store.find(id))?.authorization, token, { now: now(), lifetimes })
}

function membersOfPlugins(
  { settings, plugins }: Context,
  found: FoundAccess,
): Readonly<Record<string, Json>> {
  const byGrantTypes = settings.grantTypes.map((grantType) => {
    const data = dataOf(grantType.name, found.extensionData)
    return data === undefined ? {} : grantType.introspect?.(data)
  })
  const members = Object.assign({}, ...byGrantTypes, described(plugins.describe, found, 'introspection'))
  const { tokenType } = found.access
  return withConfirmation(members, settings, { ...found, tokenType })
}

/** RFC 7662 2.2: never contains null. */
type Introspection = { readonly active: false } | ActiveToken

interface ActiveToken {
  readonly active: true
  readonly scope: string
  readonly client_id: string
  readonly token_type?: string
  /** No resource accepts a refresh token, so no `token_type`. */
  readonly token_use?: 'refresh_token'
  readonly exp: number
  readonly sub: string
  readonly iss: string
  readonly auth_time?: number
  readonly acr?: string
}

/** RFC 7662 2.2: no reason, and not whether the token was ever valid. */
const inactive: Introspection = { active: false }

function introspectionOf(
  { scope, clientId, expiresAt, login }: Access,
  { issuer, sub, tokenType }: { readonly issuer: string; readonly sub: string; readonly tokenType?: string },
): ActiveToken {
  return {
    active: true,
    scope: formatScope(scope),
    client_id: clientId,
    ...(tokenType === undefined ? {} : { token_type: tokenType }),
    exp: expiresAt,
    sub,
    iss: issuer,
    // RFC 9470 6.2
    ...(login && { auth_time: login.authTime, ...(login.acr !== undefined && { acr: login.acr }) }),
  }
}
