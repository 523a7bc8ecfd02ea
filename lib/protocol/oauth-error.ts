import { isRecord } from '../primitives/options-reader'
import { isQuotable, isToken, serverAttributes } from './http-authentication'
import type { Reason } from './reasons'

/**
 * The error codes of the endpoints of the suite (RFC 6749 4.1.2.1, 4.2.2.1 and 5.2; `invalid_target` from RFC 8693
 * 2.2.2, `invalid_token` from RFC 6750 3.1, the codes of client metadata from RFC 7591 3.2.2, the codes of polls from RFC 8628
 * 3.5, the codes of request objects and their references from RFC 9101 7, the codes about logins and pages from OpenID
 * Connect Core 3.1.2.6, the codes about proofs from RFC 9449 5 and 8).
 */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'invalid_target'
  | 'invalid_token'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'login_required'
  | 'consent_required'
  | 'interaction_required'
  | 'unmet_authentication_requirements'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'invalid_request_uri'
  | 'invalid_request_object'
  | 'registration_not_supported'
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  | 'server_error'
  | 'temporarily_unavailable'

/**
 * An error response to a request (RFC 6749 5.2, RFC 6750 3.1). Endpoints, extensions, token types and the other plug-ins
 * of a host throw it to refuse a request:
 *
 *     throw new OAuthError('insufficient_user_authentication', 'login_too_old', 'Log in again.', {
 *       status: 401,
 *       challenge: { max_age: '300' },
 *     })
 *
 * The client gets `code` and `description`. Both are fixed texts of `%x20-21 / %x23-5B / %x5D-7E`, and never repeat a
 * part of the request, but for the scope token that fails. Plug-ins of a host may use their own codes. Events and logs get `reason` and `cause`. `reason` is a
 * stable word that is more precise than the code.
 *
 * The constructor throws a `RangeError` if a text contains other characters, or if an option is not valid.
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  /** The HTTP status. Undefined: the status of the code. */
  readonly status: number | undefined
  /** Headers of the response, besides those of every error response. */
  readonly headers: Readonly<Record<string, string>> | undefined
  /** Attributes of the challenge. Undefined: the response has a challenge only if its status or code demands one. */
  readonly challenge: Readonly<Record<string, string>> | undefined
  /** The schemes of the challenge. Undefined: the usual ones. */
  readonly schemes: readonly string[] | undefined
  // Private, so that a host that logs the error logs no part of the request.
  readonly #observed: Observed | undefined

  constructor(
    /** The member `error` of the response. */
    readonly code: OAuthErrorCode | (string & {}),
    /** A stable word for events and logs. The client never gets it. */
    readonly reason: string,
    /** The member `error_description` of the response. */
    readonly description: string,
    options?: OAuthErrorOptions,
  ) {
    super(description, options)
    this.status = options?.status
    this.headers = options?.headers
    this.challenge = options?.challenge
    this.schemes = options?.schemes
    this.#observed = options?.observed
    // The check runs in the constructor, so a host sees the mistake where the text is written, not where the server sends
    // it.
    requireSendable(this)
  }

  /** What the server read before it refused, for the warning `EAS_REFUSED`. Never a credential. */
  get observed(): Observed | undefined {
    return this.#observed
  }
}

/**
 * What a check read and compared, by name. Only values that are no credential: a redirection URI, a scope, an issuer, a
 * number. A value may come from a stranger, and have any length and any character.
 */
export type Observed = Readonly<Record<string, string | number | readonly string[] | undefined>>

/** The response to an error besides its two texts, and what events and warnings alone get. */
export interface OAuthErrorOptions {
  /** The error behind this one. No response shows it. */
  readonly cause?: unknown
  /** For the warning `EAS_REFUSED`. No response shows it. */
  readonly observed?: Observed
  /**
   * The HTTP status, 400 to 599. Default: the status that the endpoint has for the code, or else 401 for `invalid_client`
   * and `invalid_token`, 500 for `server_error`, 503 for `temporarily_unavailable`, and 400. A redirect has no such status.
   */
  readonly status?: number
  /**
   * Headers of the response, such as `{ 'Retry-After': '30' }`. Default: none, and `Retry-After: 1` for
   * `temporarily_unavailable`. A redirect has no such headers.
   */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Attributes of the challenge in `WWW-Authenticate`, such as `{ scope: 'photos:read' }` (RFC 6750 3, RFC 9470 3). The
   * server adds the realm and the error. Give at least `{}` to a refusal of an access token by an endpoint, unless its
   * status is 401. `invalid_client` has the challenge of client authentication.
   */
  readonly challenge?: Readonly<Record<string, string>>
  /**
   * The authentication schemes of the challenge, such as `['DPoP']`. Default: at a guard, the schemes of all its token
   * types; at an endpoint, `Bearer`.
   */
  readonly schemes?: readonly string[]
}

/**
 * The refusal of a request without a look at its content, because too many such requests came before. The client gets
 * `retryAfter` as `Retry-After`.
 */
export class Throttled extends OAuthError {
  constructor(
    reason: string,
    description: string,
    /** Whole seconds after which the client may try again. */
    readonly retryAfter: number,
  ) {
    const headers = { 'Retry-After': String(retryAfter) }
    super('temporarily_unavailable', reason, description, { status: 429, headers })
  }
}

/**
 * The refusal of a correct request, because its client or its owner has used up a share. The share protects other
 * clients and owners. The refusal does not count as a failure.
 */
export class OverShare extends Throttled {}

/**
 * The refusal that the protocol tells an honest client to cause, such as `authorization_pending`: its sender has a good
 * handle, or a secret or a key has proven the client. It counts apart from failures.
 */
export class ProtocolAnswer extends OAuthError {}

/**
 * The refusal of an attempt, because too many attempts are running. The server has not made the attempt, so no limit on
 * failures counts it.
 */
export class NotAttempted extends OAuthError {
  constructor(reason: string, description: string) {
    super('temporarily_unavailable', reason, description)
  }
}

/**
 * The refusal of a client whose own metadata this server cannot use. The client, not the server, is at fault, so the
 * refusal counts as a failure of the network that sent the request.
 */
export class UnusableClient extends OAuthError {
  constructor(
    /** The error code for the client. */
    code: OAuthErrorCode,
    reason: Reason,
    description: string,
    /** The error code for the resource owner, on a page of the authorization endpoint. */
    readonly pageCode: OAuthErrorCode,
  ) {
    super(code, reason, description)
  }

  /** The same refusal for the resource owner. */
  forPage(): OAuthError {
    return new OAuthError(this.pageCode, this.reason, this.description)
  }
}

/** @throws RangeError if a response cannot carry the error as it is. */
function requireSendable({
  code,
  reason,
  description,
  status,
  headers,
  challenge,
  schemes,
}: OAuthError): void {
  const require = (isRight: boolean, what: string, rule: string) => {
    if (!isRight) throw new RangeError(`The ${what} of "${reason}" must ${rule}.`)
  }
  // RFC 6749 5.2
  const quotable = 'be ASCII without quotes, backslashes and line breaks'
  require(isQuotable(code), 'code', quotable)
  require(isQuotable(description), 'description', quotable)
  if (status !== undefined) require(isErrorStatus(status), 'status', 'be a whole number, 400 to 599')
  if (headers !== undefined)
    require(areHeaders(headers), 'headers', 'be an object of names and texts of printable ASCII')
  if (schemes !== undefined)
    require(schemes.length > 0 && schemes.every(isToken), 'schemes', 'be names of authentication schemes')
  if (challenge !== undefined)
    require(areAttributes(
      challenge,
    ), 'challenge', `be an object of names and texts: each text must ${quotable}, and the server itself sets ${serverAttributes.join(', ')}`)
}

/** Whether the value is the HTTP status of an error: a whole number, 400 to 599. */
export const isErrorStatus = (status: unknown): boolean =>
  Number.isInteger(status) && Number(status) >= 400 && Number(status) < 600

const areHeaders = (headers: unknown) =>
  isRecord(headers) &&
  Object.entries(headers).every(
    ([name, value]) => isToken(name) && typeof value === 'string' && /^[\x20-\x7E]*$/.test(value),
  )

const areAttributes = (attributes: unknown) =>
  isRecord(attributes) &&
  Object.entries(attributes).every(
    ([name, value]) => isToken(name) && !serverAttributes.includes(name.toLowerCase()) && isQuotable(value),
  )

/** Makes the errors of one code, with any reason. */
export const errorOf =
  (code: OAuthErrorCode) =>
  (reason: string, description: string, options?: OAuthErrorOptions): OAuthError =>
    new OAuthError(code, reason, description, options)

/** Makes the errors of one code, with the reasons that the suite has for the code. */
const refusal = <Code extends OAuthErrorCode>(
  code: Code,
): ((reason: Reason<Code>, description: string, options?: OAuthErrorOptions) => OAuthError) => errorOf(code)

/** A parameter is missing, repeated or malformed. */
export const invalidRequest = refusal('invalid_request')
/** Client authentication failed. */
export const invalidClient = refusal('invalid_client')
/** The authorization code, the refresh token or the credentials of the owner are not valid for this request. */
export const invalidGrant = refusal('invalid_grant')
/** The scope is malformed, unknown or more than the client may have. */
export const invalidScope = refusal('invalid_scope')
/** The requested resource or audience is unknown or not acceptable (RFC 8693 2.2.2, RFC 8707 2). */
export const invalidTarget = refusal('invalid_target')
/** The bearer token of the request is not valid here (RFC 6750 3.1). */
export const invalidToken = refusal('invalid_token')
/** A redirection URI of a registration is not acceptable (RFC 7591 3.2.2). */
export const invalidRedirectUri = refusal('invalid_redirect_uri')
/** A member of the metadata of a client is not acceptable (RFC 7591 3.2.2). */
export const invalidClientMetadata = refusal('invalid_client_metadata')
/** The request object is not good for the request (RFC 9101 7). */
export const invalidRequestObject = refusal('invalid_request_object')
/** The client may not use this grant type or response type. */
export const unauthorizedClient = refusal('unauthorized_client')
/** The server does not support the grant type. */
export const unsupportedGrantType = refusal('unsupported_grant_type')
/** The server does not support the response type. */
export const unsupportedResponseType = refusal('unsupported_response_type')
/** The resource owner has denied the request, or the host has denied it for the owner. */
export const accessDenied = refusal('access_denied')
/** Makes the answers of one code to polls with a good handle (RFC 8628 3.5). */
const pollAnswer =
  <Code extends OAuthErrorCode>(code: Code) =>
  (reason: Reason<Code>, description: string): ProtocolAnswer =>
    new ProtocolAnswer(code, reason, description)

/** The resource owner has not decided yet. The client asks again later. */
export const authorizationPending = pollAnswer('authorization_pending')
/** The client asks too soon: it waits longer from now on (RFC 8628 3.5). */
export const slowDown = pollAnswer('slow_down')
/** The request that the client asks about has expired. */
export const expiredToken = pollAnswer('expired_token')
/** The resource owner has denied the request that the client asks about. */
export const pollDenied = pollAnswer('access_denied')
/** @returns `login_required` (OpenID Connect Core 3.1.2.6): the owner must log in, and no page may ask. */
export const loginRequired = refusal('login_required')
/** @returns `consent_required`: the owner must approve, and no page may ask. */
export const consentRequired = refusal('consent_required')
/** @returns `interaction_required`: the owner must see a page, and none may appear. */
export const interactionRequired = refusal('interaction_required')
/** @returns `unmet_authentication_requirements`: the login of the owner is of no class that the client demands. */
export const unmetAuthenticationRequirements = refusal('unmet_authentication_requirements')
/** The server takes no `request_uri` of a client (OpenID Connect Core 3.1.2.6). */
export const requestUriNotSupported = refusal('request_uri_not_supported')
/** The `request_uri` names no request (RFC 9101 7). */
export const invalidRequestUri = refusal('invalid_request_uri')
/** The DPoP proof of the request is missing or not valid (RFC 9449 5 and 7.1). */
export const invalidDpopProof = refusal('invalid_dpop_proof')
/** The DPoP proof of the request needs the nonce of this response (RFC 9449 8 and 9). */
export const useDpopNonce = refusal('use_dpop_nonce')
/** The server has failed. */
export const serverError = refusal('server_error')
/** Something that the server needs, such as a store, does not respond in time. The client may try again. */
export const temporarilyUnavailable = refusal('temporarily_unavailable')
type Busy = Reason<'temporarily_unavailable'>

/** Too many such requests came before. The client may try again after `retryAfter` seconds. */
export const tooManyAttempts = (reason: Busy, description: string, retryAfter: number): Throttled =>
  new Throttled(reason, description, retryAfter)

/** The client or the owner has used up its share. The client may try again after `retryAfter` seconds. */
export const tooManyForShare = (reason: Busy, description: string, retryAfter: number): OverShare =>
  new OverShare(reason, description, retryAfter)

/** Too many such attempts are running at this moment. */
export const tooManyAtOnce = (reason: Busy, description: string): NotAttempted =>
  new NotAttempted(reason, description)

/** Returns an `OAuthError` as it is, and wraps any other error as the cause of a `server_error`. */
export function unexpected(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error
  return serverError('unexpected', 'The server met an unexpected condition.', { cause: error })
}

// The properties in which Node and its libraries say what failed and where. Commands, parameters and rows stand in
// other properties.
const telling = ['name', 'code', 'errno', 'syscall', 'address', 'port']

/**
 * Copies an error for a log: name, message, stack and codes, of the error and of its causes. Drops all other
 * properties, because database clients put the whole command there, with the record in it. A thrown value that is no
 * error becomes an error without content.
 */
export function bareError(thrown: unknown, depth = 0): Error {
  if (!(thrown instanceof Error) || depth > 8) return new Error('The thrown value is not an error.')
  const bare = new Error(withoutArguments(thrown.message))
  Object.setPrototypeOf(bare, Object.getPrototypeOf(thrown))
  const keep = (name: string, value: unknown) => {
    Object.defineProperty(bare, name, { value, configurable: true, writable: true })
  }
  for (const name of telling) {
    const value: unknown = Reflect.get(thrown, name)
    if (typeof value === 'string' || typeof value === 'number') keep(name, value)
  }
  keep('stack', withoutArguments(thrown.stack ?? ''))
  if (thrown.cause !== undefined) keep('cause', bareError(thrown.cause, depth + 1))
  if (thrown instanceof AggregateError)
    keep(
      'errors',
      thrown.errors.slice(0, 8).map((error) => bareError(error, depth + 1)),
    )
  return bare
}

// Redis repeats the arguments of an unknown command in its error message.
function withoutArguments(text: string): string {
  return text.replace(/, with args beginning with:[^\n]*/, '')
}
