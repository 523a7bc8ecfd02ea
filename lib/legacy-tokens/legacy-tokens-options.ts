import { isRegExp } from 'node:util/types'
import { aCall, aText, someTexts } from '../primitives/fields'
import { exactShape, type Fields, kind, needed, optional, type Place, type Read } from '../primitives/schema'
import { isWhole, tenYears } from '../primitives/values'
import { isSubject, subjectExpectation } from '../protocol/resource-owner'
import { isScope, type Scope, scopeExpectation } from '../protocol/scope'

/** A token of the other server, as its storage has it. */
export interface LegacyToken {
  /** The client that got it. It has the same identifier here. */
  readonly clientId: string
  /** The resource owner. Omit it if the client acts for itself; undefined is a mistake, as of a failed look-up. */
  readonly subject?: string
  readonly scope: Scope
  /** Whole seconds since the epoch. */
  readonly expiresAt: number
  /**
   * When the owner approved, in whole seconds since the epoch: a revocation at this server ends what was granted before
   * it, and `lifetimes.grant` counts from here. Default: unknown; then every revocation of the owner or the client
   * counts, and `lifetimes.grant` begins with the move.
   */
  readonly grantedAt?: number
  /** URIs of the option `resources`. Default: the default resource. */
  readonly resources?: readonly string[]
}

export type LegacyTokenKind = 'access_token' | 'refresh_token'

type Eventually<T> = T | Promise<T>
type Find = (token: string) => Eventually<LegacyToken | undefined>
type Revoke = (token: string, kind: LegacyTokenKind) => unknown
type Form = RegExp | ((text: string) => boolean)

/**
 * Options of {@link legacyTokens}. If a function throws, or returns anything else than a token or undefined, the
 * request gets `temporarily_unavailable`, and the event `failure` says what was wrong.
 */
export interface LegacyTokensOptions {
  /**
   * The form of the tokens: an expression for the whole text, such as `/[0-9a-f]{40}/`, or a function. The functions
   * below are asked for such texts alone, of at most 8192 letters, digits and `-._~+/=`, and never for tokens of this
   * server.
   */
  readonly form: Form
  /**
   * The last second for which tokens of the other server count, since the epoch: at most twice the longest of
   * `lifetimes.refreshToken` and `lifetimes.accessToken` from now, because a revocation is remembered for so long. Do not
   * move it later.
   */
  readonly until: number
  /** Finds an access token; undefined if unknown. Asked for each request to a guard. */
  readonly findAccess: Find
  /** Finds a refresh token; undefined if unknown. */
  readonly findRefresh: Find
  /**
   * Ends a token at the revocation endpoint, once its client has asked for it. Default: tokens of the other server that no
   * refresh has moved stay good until their end.
   */
  readonly revoke?: Revoke
}

const isForm = (value: unknown): value is Form => isRegExp(value) || typeof value === 'function'
const aForm = kind(isForm, 'must be a regular expression of the whole token, or a function.')

/** Of the whole text, and without a state between two calls. */
function testOf({ source, flags }: RegExp): (text: string) => boolean {
  const whole = new RegExp(`^(?:${source})$`, flags.replace(/[gmy]/g, ''))
  return (text) => whole.test(text)
}

const cure = 'must be a function that takes a token.'

export const legacyFields = {
  form: (given: unknown, at: Place, member: string) => {
    const form = aForm(given, at, member) ?? /$^/
    return isRegExp(form) ? testOf(form) : form
  },
  until: needed(0, kind(isWhole(1, Infinity), 'must be whole seconds since the epoch.')),
  findAccess: needed<Find>(() => undefined, aCall(cure)),
  findRefresh: needed<Find>(() => undefined, aCall(cure)),
  revoke: optional(aCall<Revoke>(cure)),
} satisfies Fields<LegacyTokensOptions>

export type LegacyTerms = Read<typeof legacyFields>

const subject = kind(isSubject, `${subjectExpectation} If the client acts for itself, omit the member.`)
const timeUntil = (ahead: number, what: string) =>
  kind<number, number>(
    (value, now): value is number => isWhole(0, now + ahead)(value),
    `must be whole seconds since the epoch, ${what}.`,
  )

/** The context: the time, in seconds since the epoch. */
export const legacyToken = exactShape<LegacyToken, number>({
  clientId: aText,
  subject: (given, at, member) => (member in at.source ? subject(given, at, member) : undefined),
  scope: kind(isScope, scopeExpectation),
  expiresAt: timeUntil(tenYears, 'at most ten years from now'),
  grantedAt: optional(timeUntil(300, 'in the past')),
  resources: optional(someTexts),
})
