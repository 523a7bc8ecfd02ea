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

/** RFC 7662 2.1 and 4: without `may_introspect`, a client could try out tokens. */
export async function introspect(
  server: Context,
  { client, parameters }: { readonly client: Client; readonly parameters: Parameters },
): Promise<Readonly<Record<string, Json>>> {
  if (!client.may_introspect) throw refused('introspection_not_registered')
  const token = parameters.require('token')
  const { settings, store, now } = server
  const found = await store.findAccess(token, now())
  if (found !== undefined) {
    const { access } = found
    const sub = await subjectFor(server, access)
    return sub === undefined
      ? inactive
      : { ...membersOfPlugins(server, found), ...active(access, settings, sub), token_type: access.tokenType }
  }
  // RFC 7662 4: no resource takes a refresh token.
  if (parameters.get('token_type_hint') === 'access_token') return inactive
  const refresh = await refreshBy(server, client, token)
  if (refresh?.clientId !== client.client_id) return inactive
  const sub = await subjectFor(server, refresh, client)
  return sub === undefined ? inactive : { ...active(refresh, settings, sub), token_use: 'refresh_token' }
}

/** Undefined if an extension publishes subjects, and the client is gone: the host's subject must not show. */
async function subjectFor(
  { settings, plugins: { publishedSubject } }: Context,
  { subject, clientId }: Access,
  known?: Client,
): Promise<string | undefined> {
  // RFC 9068 2.2: `sub` is the client that acts for itself.
  if (subject === undefined) return clientId
  if (publishedSubject === undefined) return subject
  const client = known ?? (await settings.findClient(clientId))
  return client && publishedSubject(subject, client)
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

/** RFC 7662 2.2: no reason, and not whether the token was ever valid. */
const inactive = { active: false }

/** RFC 7662 2.2: never contains null. */
const active = (
  { scope, clientId, expiresAt, login }: Access,
  { issuer }: { readonly issuer: string },
  sub: string,
) => ({
  active: true,
  scope: formatScope(scope),
  client_id: clientId,
  exp: expiresAt,
  sub,
  iss: issuer,
  // RFC 9470 6.2
  ...(login && { auth_time: login.authTime, ...(login.acr !== undefined && { acr: login.acr }) }),
})
