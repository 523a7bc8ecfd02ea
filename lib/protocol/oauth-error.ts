import { isRecord, isWhole } from '../primitives/values'
import { areAttributes, isQuotable, isToken, serverAttributes } from './http-authentication'

/**
 * RFC 6749 4.1.2.1, 4.2.2.1 and 5.2, RFC 8693 2.2.2, RFC 6750 3.1, RFC 7591 3.2.2, RFC 8628 3.5, RFC 9101 7, OpenID
 * Connect Core 3.1.2.6, RFC 9449 5 and 8.
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
 * Refuses a request (RFC 6749 5.2, RFC 6750 3.1). Plug-ins of a host throw it, too:
 *
 *     throw new OAuthError('insufficient_user_authentication', 'login_too_old', 'Log in again.', {
 *       status: 401,
 *       challenge: { max_age: '300' },
 *     })
 *
 * The client gets `code` and `description`: fixed texts of `%x20-21 / %x23-5B / %x5D-7E`, which never repeat a part of
 * the request but the scope token that fails. Plug-ins may use their own codes. Events and logs get `reason`, a stable
 * word finer than the code, and `cause`.
 *
 * The constructor throws a `RangeError` for other characters, or an option that is not valid.
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  /** Default: that of the code. */
  readonly status: number | undefined
  /** Besides the usual ones. */
  readonly headers: Readonly<Record<string, string>> | undefined
  /** Default: one only if the status or code demands it. */
  readonly challenge: Readonly<Record<string, string>> | undefined
  /** Default: the usual ones. */
  readonly schemes: readonly string[] | undefined
  // Private: a host that logs the error logs no part of the request.
  readonly #observed: Observed | undefined

  constructor(
    readonly code: OAuthErrorCode | (string & {}),
    /** A stable word for events and logs, not for the client. */
    readonly reason: string,
    readonly description: string,
    options?: OAuthErrorOptions,
  ) {
    super(description, options)
    this.status = options?.status
    this.headers = options?.headers
    this.challenge = options?.challenge
    this.schemes = options?.schemes
    this.#observed = options?.observed
    // At once: a host sees the mistake where it writes the text.
    requireSendable(this)
  }

  /** For the warning `EAS_REFUSED`. Never a credential. */
  get observed(): Observed | undefined {
    return this.#observed
  }
}

/**
 * What a check read and compared, such as a scope: never a credential. A stranger may have written it, at any length
 * and with any character.
 */
export type Observed = Readonly<Record<string, string | number | readonly string[] | undefined>>

export interface OAuthErrorOptions {
  readonly cause?: unknown
  /** For the warning `EAS_REFUSED`. No response shows it. */
  readonly observed?: Observed
  /**
   * 400 to 599, not in a redirect. Default: that of the endpoint for the code, else 401 for `invalid_client` and
   * `invalid_token`, 500 for `server_error`, 503 for `temporarily_unavailable`, and 400.
   */
  readonly status?: number
  /**
   * Such as `{ 'Retry-After': '30' }`, not in a redirect. Default: none, and `Retry-After: 1` for
   * `temporarily_unavailable`.
   */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Of `WWW-Authenticate`, such as `{ scope: 'photos:read' }` (RFC 6750 3, RFC 9470 3), besides realm and error. An
   * endpoint that refuses an access token gives at least `{}`, unless the status is 401. `invalid_client` has its own.
   */
  readonly challenge?: Readonly<Record<string, string>>
  /** Default: at a guard, those of all its token types; at an endpoint, `Bearer`. */
  readonly schemes?: readonly string[]
}

/** Too many such requests came before. The client gets `retryAfter` as `Retry-After`. */
export class Throttled extends OAuthError {
  constructor(
    reason: string,
    description: string,
    /** Whole seconds until the next try. */
    readonly retryAfter: number,
    observed?: Observed,
  ) {
    const headers = { 'Retry-After': String(retryAfter) }
    super('temporarily_unavailable', reason, description, {
      status: 429,
      headers,
      ...(observed && { observed }),
    })
  }
}

/** A share that protects others is used up. It counts as no failure. */
export class OverShare extends Throttled {}

/** What the protocol tells an honest client to cause, such as `authorization_pending`. Counts apart from failures. */
export class ProtocolAnswer extends OAuthError {}

/** The client has no part in it, such as a request of another owner. */
export class ForOwner extends OAuthError {}

/** On a page: after a redirect, the client would only send the owner back. */
export const isForOwner = (error: OAuthError): boolean =>
  error instanceof ForOwner || (error instanceof Throttled && !(error instanceof OverShare))

/** Too many attempts are running. This one was not made, so no limit on failures counts it. */
export class NotAttempted extends OAuthError {
  constructor(reason: string, description: string) {
    super('temporarily_unavailable', reason, description)
  }
}

function requireSendable(error: OAuthError): void {
  const { reason, status, headers, challenge, schemes } = error
  const require = (isRight: boolean, what: string, rule: string) => {
    if (!isRight) throw new RangeError(`The ${what} of "${reason}" must ${rule}.`)
  }
  // RFC 6749 5.2.
  const quotable = 'be ASCII without quotes, backslashes and line breaks'
  require(isQuotable(error.code), 'code', quotable)
  require(isQuotable(error.description), 'description', quotable)
  if (status !== undefined) require(isErrorStatus(status), 'status', 'be a whole number, 400 to 599')
  if (headers !== undefined)
    require(areHeaders(headers), 'headers', 'be an object of names and texts of printable ASCII')
  if (schemes !== undefined)
    require(schemes.length > 0 && schemes.every(isToken), 'schemes', 'be names of authentication schemes')
  if (challenge !== undefined) {
    const attributes = `be an object of names and texts: each text must ${quotable}, and the server itself sets ${serverAttributes.join(', ')}`
    require(areAttributes(challenge), 'challenge', attributes)
  }
}

export const isErrorStatus = isWhole(400, 599)

const areHeaders = (headers: unknown) =>
  isRecord(headers) &&
  Object.entries(headers).every(
    ([name, value]) => isToken(name) && typeof value === 'string' && /^[\x20-\x7E]*$/.test(value),
  )

// Other properties hold commands, parameters and rows.
const telling = ['name', 'code', 'errno', 'syscall', 'address', 'port']

/**
 * For a log: name, message, stack, codes and causes. Database clients put the whole command, with the record, into the
 * rest.
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
const withoutArguments = (text: string): string => text.replace(/, with args beginning with:[^\n]*/, '')

export function statusOf(
  { status, reason, code }: OAuthError,
  ofEndpoint: Readonly<Record<string, number>> = {},
): number {
  if (status !== undefined) return status
  const known = [reason, code].find((name) => Object.hasOwn(ofEndpoint, name))
  const own = known === undefined ? undefined : ofEndpoint[known]
  return own ?? usualStatus.get(code) ?? 400
}

const usualStatus: ReadonlyMap<string, number> = new Map([
  ['invalid_client', 401],
  ['invalid_token', 401],
  ['server_error', 500],
  ['temporarily_unavailable', 503],
])

export const headersOf = ({ code, headers }: OAuthError): Record<string, string> =>
  code === 'temporarily_unavailable' ? { 'Retry-After': '1', ...headers } : { ...headers }

export type ErrorText = Pick<OAuthError, 'code' | 'description'>

/** RFC 6749 4.1.2.1 and 5.2, RFC 6750 3. */
export function errorMembers(
  { code, description }: ErrorText,
  errorUri: string | undefined,
): Record<string, string> {
  const members = { error: code, error_description: description }
  return errorUri === undefined ? members : { ...members, error_uri: `${errorUri}#${code}` }
}
