import { commit } from '../authorization/commit'
import { type FormattedToken, readFormatted } from '../authorization/lookup'
import { revokeByToken } from '../authorization/revoke'
import type { OnCommitted } from '../authorization/transition'
import { credentialId } from '../protocol/credential'
import type { EndpointRequest } from '../protocol/endpoint'
import type { Context } from '../doors/context'

interface RevocationRequest extends Pick<EndpointRequest, 'client' | 'parameters' | 'useUp'> {
  readonly onCommitted?: OnCommitted
}

/**
 * RFC 7009 2. One response for every token: it does not show whether another client's exists. Ignores
 * `token_type_hint`: a token's form shows its kind.
 */
export async function revoke(
  server: Context,
  request: RevocationRequest,
): Promise<Readonly<Record<string, never>>> {
  const formats = server.settings.accessTokenFormats
  const token = request.parameters.require('token')
  const id = credentialId('accessToken', token) ?? credentialId('refreshToken', token)
  if (id !== undefined) await revokeIn(server, request, id, token)
  else if (formats.length > 0)
    for (const formatted of await readFormatted(formats, token))
      await revokeIn(server, request, formatted.authorizationId, formatted)
  // RFC 7009 2.2 demands an empty success; libraries that parse JSON need an object.
  return {}
}

function revokeIn(
  { store, random }: Context,
  { client, onCommitted, useUp }: RevocationRequest,
  id: string,
  token: string | FormattedToken,
): Promise<unknown> {
  const revocation = { token, clientId: client.client_id }
  return commit(store, id, (current) => revokeByToken(current, revocation), random, { onCommitted, useUp })
}
