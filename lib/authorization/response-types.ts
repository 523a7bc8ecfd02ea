import { oneOf, textTable } from '../primitives/fields'
import { type Fields, kind, optional, readOptions, requireShape, shape, usual } from '../primitives/schema'
import { isRecord } from '../primitives/values'
import type { Authorization, RequestedAuthorization } from './authorization'
import { approveWithAccessToken, approveWithCode } from './requested'
import type { Issued } from './issue'
import type { IssueContext } from './transition'
import type { ResponseTypeDescription } from '../protocol/response-types'

/** The result of an approval. */
export interface Approval {
  /** The approved record, with the id of the request. */
  readonly authorization: Authorization
  /** In clear, such as `code`. The endpoint adds `state` and `iss`. */
  readonly parameters: Readonly<Record<string, string>>
  /** Only with the mode `fragment`. The endpoint writes its parameters. */
  readonly issued?: Issued
}

/** By the header `Location`, or by a link on a page: for user agents that lose its fragment (RFC 6749 4.2.2). */
export type RedirectMethod = 'location' | 'page'

/** A response type, of the suite or of a host (RFC 6749 3.1.1 and 8.4). */
export interface ResponseType extends ResponseTypeDescription {
  /** The component of the redirection URI that carries the response, also an error. */
  readonly mode: 'query' | 'fragment'
  /** Default `location`. */
  readonly redirectBy?: RedirectMethod
  /**
   * Returns the record that replaces the request, and the response. Must be pure: the server calls it again if two
   * decisions race or one arrives twice. The code of `approveWithCode` is then the same.
   *
   * @throws OAuthError to refuse the request by redirect. Any other error becomes `server_error`.
   */
  approve(proposed: RequestedAuthorization, context: IssueContext): Approval
}

export function checkedResponseType(type: ResponseType): ResponseType {
  if (type === codeResponseType) return type
  const { name, grantTypes, mode, redirectBy = 'location' } = type
  return {
    name,
    grantTypes,
    mode,
    redirectBy,
    approve(proposed, context) {
      const approval: unknown = type.approve(proposed, context)
      const subject = `The response type "${name}" returned a wrong result for an approval:`
      return requireShape(approvalShape, approval, subject, proposed)
    },
  }
}

const approvalShape = shape<Approval, RequestedAuthorization>({
  authorization: kind(
    (value, { id, clientId, subject }) =>
      isRecord(value) && value['id'] === id && value['clientId'] === clientId && value['subject'] === subject,
    'must be the approved record, with the id, clientId and subject of the request.',
  ),
  parameters: textTable,
  issued: optional(kind(isRecord, 'must be the token that issue() made.')),
})

/** RFC 6749 4.1.2. */
export const codeResponseType: ResponseType = {
  name: 'code',
  grantTypes: ['authorization_code'],
  mode: 'query',
  approve(proposed, context) {
    const { authorization, code } = approveWithCode(proposed, context)
    return { authorization, parameters: { code } }
  },
}

/** Options of {@link implicit}. */
export interface ImplicitOptions {
  /**
   * Default `location`, a redirect. `page` shows a link, for user agents that lose the fragment of a redirect (RFC 6749
   * 4.2.2).
   */
  readonly redirectBy?: RedirectMethod
}

/**
 * The implicit grant (RFC 6749 4.2): the redirection URI carries the access token in its fragment. Use it only for
 * clients that you cannot change: RFC 9700 2.1.2 advises against it, and for the code grant with PKCE.
 *
 * @throws ConfigurationError that lists every mistake in the options.
 */
export function implicit(options: ImplicitOptions = {}): {
  readonly name: string
  readonly responseTypes: readonly [ResponseType]
} {
  const { redirectBy } = readOptions('implicit()', implicitFields, options)
  const responseType: ResponseType = {
    name: 'token',
    grantTypes: ['implicit'],
    mode: 'fragment',
    redirectBy,
    approve(proposed, context) {
      return { ...approveWithAccessToken(proposed, context), parameters: {} }
    },
  }
  return { name: 'implicit', responseTypes: [responseType] }
}

export const redirectMethod = oneOf('location', 'page')
const implicitFields = { redirectBy: usual('location', redirectMethod) } satisfies Fields<ImplicitOptions>
