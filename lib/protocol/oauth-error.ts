import type { Reason } from './reasons'

/** The error codes of the suite's own endpoints (RFC 6749 4.1.2.1, 4.2.2.1 and 5.2; `invalid_target` of RFC 8693 2.2.2). */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'invalid_target'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'server_error'
  | 'temporarily_unavailable'

/**
 * An error response to a request (RFC 6749 5.2).
 *
 * The client sees `code` and `description`: fixed texts of `%x20-21 / %x23-5B / %x5D-7E` that never echo the request. An
 * endpoint of a host may have codes of its own. Events and logs see `reason` and `cause`: `reason` is a stable word, finer
 * than the code.
 */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'

  constructor(
    readonly code: OAuthErrorCode | (string & {}),
    readonly reason: string,
    readonly description: string,
    options?: { readonly cause?: unknown },
  ) {
    super(description, options)
    // RFC 6749 5.2: a text of the host's own is held to the grammar where it is written, not where it goes out.
    if (!grammar.test(code))
      throw new RangeError(
        `The code of "${reason}" must be ASCII without quotes, backslashes and line breaks.`,
      )
    if (!grammar.test(description))
      throw new RangeError(
        `The description of "${reason}" must be ASCII without quotes, backslashes and line breaks.`,
      )
  }
}

/** A request that is refused unread, because there were too many like it: the client is told when to come again. */
export class Throttled extends OAuthError {
  constructor(
    reason: string,
    description: string,
    /** Whole seconds. */
    readonly retryAfter: number,
  ) {
    super('temporarily_unavailable', reason, description)
  }
}

/**
 * A request that is right, of a client or an owner that has had its share: others are not to go short for it. It counts as
 * no failure.
 */
export class OverShare extends Throttled {}

/**
 * An attempt that was not made, because too many are under way. It says nothing of what would have been attempted, and no
 * limit on failures counts it.
 */
export class NotAttempted extends OAuthError {
  constructor(reason: string, description: string) {
    super('temporarily_unavailable', reason, description)
  }
}

const grammar = /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/

type Cause = { readonly cause?: unknown }

/** Makes the errors of one code. */
export const errorOf =
  (code: OAuthErrorCode) =>
  (reason: string, description: string, options?: Cause): OAuthError =>
    new OAuthError(code, reason, description, options)

/** Makes the suite's own errors of one code, with the reasons that the suite has for it. */
const refusal = <Code extends OAuthErrorCode>(
  code: Code,
): ((reason: Reason<Code>, description: string, options?: Cause) => OAuthError) => errorOf(code)

/** A parameter is missing, repeated or malformed. */
export const invalidRequest = refusal('invalid_request')
/** Client authentication failed. */
export const invalidClient = refusal('invalid_client')
/** The code, the refresh token or the owner's credentials are not good for this request. */
export const invalidGrant = refusal('invalid_grant')
/** The scope is malformed, unknown or more than may be had. */
export const invalidScope = refusal('invalid_scope')
/** The resource or audience that a token is asked for is unknown or not acceptable (RFC 8693 2.2.2, RFC 8707 2). */
export const invalidTarget = refusal('invalid_target')
/** The client may not use this grant type or response type. */
export const unauthorizedClient = refusal('unauthorized_client')
/** The server knows no such grant type. */
export const unsupportedGrantType = refusal('unsupported_grant_type')
/** The server knows no such response type. */
export const unsupportedResponseType = refusal('unsupported_response_type')
/** The resource owner, or the host in their name, said no. */
export const accessDenied = refusal('access_denied')
/** Something broke on this side. */
export const serverError = refusal('server_error')
/** Something this side depends on does not answer in time: worth another try. */
export const temporarilyUnavailable = refusal('temporarily_unavailable')
type Busy = Reason<'temporarily_unavailable'>

/** There were too many such requests; one may come again after this many seconds. */
export const tooManyAttempts = (reason: Busy, description: string, retryAfter: number): Throttled =>
  new Throttled(reason, description, retryAfter)

/** The client or the owner has had its share; there is room again after this many seconds. */
export const tooManyForShare = (reason: Busy, description: string, retryAfter: number): OverShare =>
  new OverShare(reason, description, retryAfter)

/** There are too many such attempts at this moment. */
export const tooManyAtOnce = (reason: Busy, description: string): NotAttempted =>
  new NotAttempted(reason, description)

/** What an error says of itself on the wire. */
export interface ErrorText {
  readonly code: string
  readonly description: string
}

/**
 * The members of an error answer (RFC 6749 4.1.2.1 and 5.2, RFC 6750 3), wherever they are written.
 *
 * @param errorUri the page that explains the codes, each under its name; undefined where the host has none.
 */
export function errorMembers(
  { code, description }: ErrorText,
  errorUri: string | undefined,
): Record<string, string> {
  const members = { error: code, error_description: description }
  return errorUri === undefined ? members : { ...members, error_uri: `${errorUri}#${code}` }
}

/** The error as the framework answers it: one of its own as it is, anything else as `server_error` with its cause. */
export function unexpected(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error
  return serverError('unexpected', 'The server met an unexpected condition.', { cause: error })
}

// What Node and its libraries say of what failed and where. Commands, parameters and rows have other names.
const telling = ['name', 'code', 'errno', 'syscall', 'address', 'port']

/**
 * An error as a log may show it: name, message, stack and codes of it and its causes, and none of its other properties,
 * where clients of databases put the whole command with the record in it. What is no error becomes one without content.
 */
export function bareError(thrown: unknown, depth = 0): Error {
  if (!(thrown instanceof Error) || depth > 8) return new Error('Something was thrown that is no error.')
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

// Redis repeats the arguments of a command that it does not know.
function withoutArguments(text: string): string {
  return text.replace(/, with args beginning with:[^\n]*/, '')
}
