import { approveWithAccessToken } from '../../authorization/answer'
import { OptionsReader } from '../../protocol/configuration'
import type { RedirectMethod, ResponseType } from '../response-type'

export interface ImplicitOptions {
  /**
   * How the user agent is sent back. Default `location`, a redirect; `page` shows a page with a link, for user agents
   * that lose the fragment of a redirect (RFC 6749 4.2.2).
   */
  readonly redirectBy?: RedirectMethod
}

/**
 * The implicit grant (RFC 6749 4.2): the access token comes in the fragment of the redirection URI, without client
 * authentication and never with a refresh token. It is for clients that cannot be changed any more: RFC 9700 2.1.2
 * advises against it, and the code grant with PKCE does the same better.
 *
 * @throws ConfigurationError
 */
export function implicit(options: ImplicitOptions = {}): ResponseType {
  const reading = new OptionsReader(options, '')
  const redirectBy = reading.optional<RedirectMethod>(
    'redirectBy',
    'location',
    isRedirectMethod,
    "must be 'location' or 'page'.",
  )
  reading.refuseUnknown()
  reading.settle('implicit() cannot work with these options:')
  return {
    name: 'token',
    grantTypes: ['implicit'],
    mode: 'fragment',
    redirectBy,
    approve(proposed, context) {
      return { ...approveWithAccessToken(proposed, context), parameters: {} }
    },
  }
}

export const isRedirectMethod = (value: unknown): value is RedirectMethod =>
  value === 'location' || value === 'page'
