import type { Authorization } from '../authorization/authorization'
import { requestNotOpen } from '../authorization/decision'
import type { PlugInServer } from '../doors/plug-in'
import type { Client } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import type { Extension } from '../protocol/extension'
import { refused } from '../protocol/refusals'
import type { Parameters } from '../protocol/parameters'

/** RFC 9126 2.2. */
export const requestUriPrefix = 'urn:ietf:params:oauth:request_uri:'

/** RFC 9126 2.1. */
export function refuseRequestUri(parameters: Parameters): void {
  if (parameters.mentions('request_uri')) throw refused('request_uri_pushed')
}

/** RFC 9126 4. Of the browser's request, only `client_id` and `request_uri` count. */
export function resolvePushed(
  server: PlugInServer,
  mustPush: (client: Client) => boolean,
): NonNullable<Extension['resolveRequest']> {
  return async (parameters, client, { isPushed }) => {
    // Also from a request object.
    if (isPushed) {
      refuseRequestUri(parameters)
      return undefined
    }
    const uri = parameters.get('request_uri')
    if (uri === undefined) {
      // RFC 9126 5 and 6. No redirection URI of such a request counts.
      if (mustPush(client)) throw refused('pushed_request_required')
      return undefined
    }
    // RFC 9101 5: never both.
    if (parameters.mentions('request')) throw refused('request_object_and_uri')
    if (!uri.startsWith(requestUriPrefix)) throw refused('request_uri_of_the_client')
    const handle = uri.slice(requestUriPrefix.length)
    const id = credentialId('requestHandle', handle)
    const found = id === undefined ? undefined : await server.find(id)
    return { parameters: pushedIn(found, client), claims: handle }
  }
}

function pushedIn(found: Authorization | undefined, client: Client): string {
  if (found === undefined) throw refused('request_uri_unknown')
  // RFC 9126 2.2: bound to the client that pushed it.
  if (found.clientId !== client.client_id) throw refused('authorization_request_of_another_client')
  const pushed =
    found.state === 'unclaimed' ? found.pushed : found.state === 'pending' ? found.named?.pushed : undefined
  if (pushed === undefined) throw requestNotOpen()
  return pushed
}
