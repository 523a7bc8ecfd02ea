import type { FindClient } from './protocol/client'
import { isText } from './protocol/configuration'
import { grantableScope } from './protocol/grantable-scope'
import type { Mint, MintRequest } from './testing-door'
import { beginWith, type TokenEndpoint } from './token-endpoint/exchange'
import { tokenResponse } from './token-types/token-response'

/** Mints tokens of one server for the test kit, by the same step that ends a token request. */
export function minting(endpoint: TokenEndpoint, findClient: FindClient): Mint {
  return async (request) => {
    const { clientId, scope: requested } = request
    const client = await findClient(clientId)
    if (client === undefined || client.disabled)
      throw new Error(`No client "${clientId}" is registered, or it is disabled.`)
    const scope = grantableScope(requested, client, client.scope)
    const context = endpoint.context()
    const grant = { ...ownerOf(request), scope, refreshToken: false, extensionData: {} }
    const issued = await beginWith(endpoint, client, 'test', grant, context)
    return tokenResponse(issued, context.now)
  }
}

// A subject that is there and undefined comes from a look-up that found nobody: it must not end as a client's own token.
function ownerOf(request: MintRequest): { readonly subject?: string } {
  if (!('subject' in request)) return {}
  if (isText(request.subject)) return { subject: request.subject }
  throw new TypeError('The subject must be a text that is not empty; leave it out for a token of the client.')
}
