import type { Authorization, RequestedAuthorization } from '../authorization/authorization'
import type { IssueContext } from '../authorization/circumstances'
import type { Issued } from '../authorization/issue'
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
