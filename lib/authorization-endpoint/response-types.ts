import type { Authorization, RequestedAuthorization } from '../authorization/authorization'
import { approveWithAccessToken, approveWithCode } from '../authorization/decision'
import type { Issued } from '../authorization/issue'
import type { IssueContext } from '../authorization/transition'
import { OptionsReader } from '../protocol/configuration'
import { canonicalResponseType, type ResponseTypeDescription } from '../protocol/response-type'

/** What an approval brings: the record from now on, and what goes to the client in clear. */
export interface Approval {
  readonly authorization: Authorization
  /** Parameters of the answer, such as `code`; the endpoint adds `state` and `iss`. */
  readonly parameters: Readonly<Record<string, string>>
  /** An access token of the authorization; the endpoint writes its parameters. Only a fragment may carry it. */
  readonly issued?: Issued
}

/** How the user agent is sent on: by the header `Location`, or by a link on a page. */
export type RedirectMethod = 'location' | 'page'

/** The door for response types (RFC 6749 3.1.1 and 8.4). */
export interface ResponseType extends ResponseTypeDescription {
  /** The component of the redirection URI that carries the answer, an error too. */
  readonly mode: 'query' | 'fragment'
  /** Default `location`. `page` is for user agents that lose a fragment in `Location` (RFC 6749 4.2.2). */
  readonly redirectBy?: RedirectMethod
  /**
   * Turns an approved request into the record that is saved in its place, and into the answer. It must be pure: when two
   * decisions race, or one is sent again, it is asked again, and the code of `approveWithCode` is then the same.
   */
  approve(proposed: RequestedAuthorization, context: IssueContext): Approval
}

/** Response types by name, whatever the order of the values in it. */
export class ResponseTypes {
  private readonly types: ReadonlyMap<string, ResponseType>

  constructor(types: readonly ResponseType[]) {
    this.types = new Map(types.map((type) => [canonicalResponseType(type.name), type]))
  }

  get(name: string): ResponseType | undefined {
    return this.types.get(canonicalResponseType(name))
  }
}

/** RFC 6749 4.1.2: the answer is an authorization code in the query. */
export const codeResponseType: ResponseType = {
  name: 'code',
  grantTypes: ['authorization_code'],
  mode: 'query',
  approve(proposed, context) {
    const { authorization, code } = approveWithCode(proposed, context)
    return { authorization, parameters: { code } }
  },
}

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
