import type { FindClient } from './protocol/client'
import { isText } from './protocol/configuration'
import { grantableScope } from './protocol/grantable-scope'
import type { Mint } from './testing-door'
import { beginWith, type TokenEndpoint } from './token-endpoint/exchange'
import { tokenResponse } from './token-types/token-response'

/** Mints tokens of one server for the test kit, by the same step that ends a token request. */
export function minting(endpoint: TokenEndpoint, findClient: FindClient): Mint {
  return async ({ clientId, subject, scope: requested }) => {
    const client = await findClient(clientId)
    if (client === undefined || client.disabled)
      throw new Error(`No client "${clientId}" is registered, or it is disabled.`)
    if (subject !== undefined && !isText(subject))
      throw new TypeError('The subject must be a text that is not empty.')
    const scope = grantableScope(requested, client, client.scope)
    const circumstances = endpoint.circumstances()
    const grant = { subject, scope, refreshToken: false, bindings: {} }
    const issued = await beginWith(endpoint, client, 'test', grant, circumstances)
    return tokenResponse(issued, circumstances.now)
  }
}
