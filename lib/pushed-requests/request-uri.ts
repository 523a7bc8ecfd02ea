import { invalidRequest } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'

/** RFC 9126 2.2: what a reference to a pushed request begins with. The rest is its handle. */
export const requestUriPrefix = 'urn:ietf:params:oauth:request_uri:'

/** Refuses a pushed request that names another one (RFC 9126 2.1). @throws OAuthError */
export function refuseRequestUri(parameters: Parameters): void {
  if (parameters.mentions('request_uri'))
    throw invalidRequest('request_uri_pushed', 'A pushed request must not have a request_uri.')
}
