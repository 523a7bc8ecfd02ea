import type { Client } from '../../protocol/client'
import { isWhole, type OptionsReader } from '../../primitives/options-reader'
import { invalidGrant } from '../../protocol/oauth-error'
import { parseSubject } from '../../protocol/resource-owner'
import { grantableScope } from '../../protocol/scope'
import type { DirectGrant, GrantType, TokenRequest } from '../grant-type'

/** A verified assertion: JWT or SAML (RFC 7521 5.1). */
export interface Assertion {
  /** The trusted party that made the assertion. */
  readonly issuer: string
  /** The subject, by the name that the issuer uses. */
  readonly subject: string
  /** Unique for this issuer: `jti` of a JWT, `ID` of a SAML assertion. */
  readonly id: string
  /** Seconds since the epoch, perhaps with a fraction. */
  readonly expiresAt: number
  /** All other statements: the claims of a JWT, the attributes of a SAML assertion. */
  readonly claims: Readonly<Record<string, unknown>>
}

/**
 * Maps an assertion to a resource owner of the host. Returns the subject, a text of 1 to 1024 characters, or
 * undefined, null or false to refuse (`invalid_grant`). For any other value, the client gets `server_error` and
 * no token.
 *
 * An issuer's subject is a name among the users of that issuer only. Do not return it without a mapping: two
 * issuers may use one name for two people.
 */
export type OwnerOfAssertion = (assertion: Assertion, client: Client) => Verdict | Promise<Verdict>

type Verdict = string | undefined | null | false

/** Options of every grant type for assertions. */
export interface AssertionOptions {
  /** Maps an assertion, and the client that presents it, to a resource owner of the host. */
  readonly resourceOwner: OwnerOfAssertion
  /** Tolerated difference between clocks, in whole seconds, 0 to 300. Default 30. */
  readonly clockTolerance?: number
  /**
   * The longest time from now to the end of an assertion, in whole seconds, 1 to 86 400. Default 3600. The
   * server remembers each used assertion until shortly after its end, so this also bounds that memory.
   */
  readonly maximumLifetime?: number
}

export interface AssertionTerms {
  readonly resourceOwner: OwnerOfAssertion
  /** Seconds for which the server accepts an assertion after its end. */
  readonly clockTolerance: number
  readonly maximumLifetime: number
}

/** After a mistake, the value is a placeholder: `settle()` of the reader throws before any code uses it. */
export function readAssertionTerms(reading: OptionsReader): AssertionTerms {
  const seconds = (key: string, fallback: number, least: number, most: number) =>
    reading.optional(key, fallback, isWhole(least, most), `must be whole seconds, ${least} to ${most}.`)
  return {
    resourceOwner: reading.required(
      'resourceOwner',
      () => undefined,
      isOwnerOfAssertion,
      'must be a function that takes an assertion and a client, and returns a subject, or undefined to refuse.',
    ),
    clockTolerance: seconds('clockTolerance', 30, 0, 300),
    maximumLifetime: seconds('maximumLifetime', 3600, 1, 86_400),
  }
}

const isOwnerOfAssertion = (value: unknown): value is OwnerOfAssertion => typeof value === 'function'
/** One format of assertions as an authorization grant (RFC 7521 4.1). */
interface AssertionFormat extends AssertionTerms {
  readonly name: string
  /**
   * Verifies all but lifetime and single use, which {@link assertionGrant} checks for every format.
   *
   * @param now seconds since the epoch.
   * @throws OAuthError `invalid_grant`; `temporarily_unavailable` if the issuer's keys are not available.
   */
  verify(assertion: string, now: number): Promise<Assertion>
}

export function assertionGrant(format: AssertionFormat): GrantType {
  return {
    name: format.name,
    parameters: ['assertion', 'scope'],
    refreshTokens: false,
    async handle(request) {
      const { client, parameters, context, defaultScope } = request
      const presented = parameters.require('assertion')
      const scope = grantableScope(parameters.get('scope'), client, defaultScope)
      const assertion = await format.verify(presented, context.now)
      return { grant: { ...(await grantByAssertion(assertion, request, format)), scope, extensionData: {} } }
    },
  }
}

/** @throws OAuthError `invalid_grant` if the assertion lives too long, or has no known subject. */
export async function grantByAssertion(
  assertion: Assertion,
  { client, context: { now } }: Pick<TokenRequest, 'client' | 'context'>,
  terms: AssertionTerms,
): Promise<Pick<DirectGrant, 'refreshToken'> & Required<Pick<DirectGrant, 'subject' | 'oneTimeUse'>>> {
  const until = endOfUse(assertion, terms, now)
  const owner: unknown = await terms.resourceOwner(assertion, client)
  const subject = parseSubject(owner, 'The option resourceOwner of a grant by assertion')
  if (subject === undefined)
    throw invalidGrant('assertion_subject_refused', 'The assertion is not accepted for its subject.')
  // RFC 7521 8.2: an assertion works once. The write that stores the token uses it up.
  const oneTimeUse = { key: JSON.stringify([assertion.issuer, assertion.id]), until, refusal: replayed }
  // RFC 7521 4.1: no refresh token, so access ends when the issuer ends it.
  return { subject, refreshToken: false, oneTimeUse }
}

const replayed = () => invalidGrant('assertion_replayed', 'The assertion was used before.')

function endOfUse(
  { expiresAt }: Assertion,
  { clockTolerance, maximumLifetime }: AssertionTerms,
  now: number,
): number {
  if (expiresAt + clockTolerance <= now) throw invalidGrant('assertion_expired', 'The assertion has expired.')
  if (expiresAt > now + maximumLifetime)
    throw invalidGrant('assertion_too_long_lived', 'The assertion is valid for too long.')
  // Twice the tolerance: a process whose clock is behind accepts the assertion for one tolerance longer.
  // Rounded up: a time may have a fraction (RFC 7519 2).
  return Math.ceil(expiresAt + 2 * clockTolerance)
}
