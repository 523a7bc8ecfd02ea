import type { Demo } from '../../../demo/demo'

/** What a client is told of the demo's authorization server. */
export function metadataOf({ authorizationServer: issuer }: Demo) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }
}
