import type { Client } from '../../protocol/client'
import type { OptionsReader } from '../../protocol/configuration'
import { invalidGrant } from '../../protocol/oauth-error'
import { parseSubject } from '../../protocol/resource-owner'
import { grantableScope } from '../../protocol/scope'
import type { GrantType } from '../grant-type'

/** What a proven assertion says, in whichever format (RFC 7521 5.1). */
export interface Assertion {
  /** The trusted party that made it. */
  readonly issuer: string
  /** Whom it is about, in the words of its issuer. */
  readonly subject: string
  /** Unique for this issuer: `jti` of a JWT, `ID` of a SAML assertion. */
  readonly id: string
  /** Seconds since the epoch. */
  readonly expiresAt: number
  /** Every other statement: the claims of a JWT, the attributes of a SAML assertion. */
  readonly claims: Readonly<Record<string, unknown>>
}

/**
 * Tells which resource owner an assertion is about: a subject of the host's own, or undefined (null, false) to refuse.
 * Anything else is a fault of the server and gives no token. An issuer's subject is a name in the issuer's books only: taken as it is, two issuers could mean two people by one name.
 */
export type OwnerOfAssertion = (assertion: Assertion, client: Client) => Verdict | Promise<Verdict>

type Verdict = string | undefined | null | false

/** Options that every grant by assertion has. */
export interface AssertionOptions {
  /** Whom of the host's own an assertion is about; undefined refuses it. It may also look at the client. */
  readonly resourceOwner: OwnerOfAssertion
  /** How far clocks may differ, in whole seconds, at most 300. Default 30. */
  readonly clockTolerance?: number
  /** How far ahead an assertion may end, in whole seconds, at most 86 400: so long its use is remembered. Default 3600. */
  readonly maximumLifetime?: number
}

/** Reads them; what it returns after a mistake is a placeholder. */
export function readAssertionTerms(
  reading: OptionsReader,
): Pick<AssertionFormat, 'resourceOwner' | 'clockTolerance' | 'maximumLifetime'> {
  const seconds = (key: string, fallback: number, least: number, most: number) =>
    reading.optional(key, fallback, isWithin(least, most), `must be whole seconds, ${least} to ${most}.`)
  return {
    resourceOwner: reading.required(
      'resourceOwner',
      () => undefined,
      isOwnerOfAssertion,
      'must be a function of an assertion and a client that returns a subject, or undefined to refuse.',
    ),
    clockTolerance: seconds('clockTolerance', 30, 0, 300),
    maximumLifetime: seconds('maximumLifetime', 3600, 1, 86_400),
  }
}

const isOwnerOfAssertion = (value: unknown): value is OwnerOfAssertion => typeof value === 'function'
const isWithin =
  (least: number, most: number) =>
  (value: unknown): value is number =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

/** One format of assertions as an authorization grant (RFC 7521 4.1). */
export interface AssertionFormat {
  /** The grant type's URI. */
  readonly name: string
  readonly resourceOwner: OwnerOfAssertion
  /** How far clocks may differ, in seconds: for so long after its end an assertion is still taken. */
  readonly clockTolerance: number
  /** How far ahead an assertion may end, in seconds: for so long its use is remembered. */
  readonly maximumLifetime: number
  /**
   * Proves everything about the assertion but that its lifetime is sound and that it was not used before.
   *
   * @param now seconds since the epoch.
   * @throws OAuthError `invalid_grant`.
   */
  verify(assertion: string, now: number): Promise<Assertion>
}

/** A grant by assertion: for an owner whom a trusted party vouches for, once, without a refresh token. */
export function assertionGrant(format: AssertionFormat): GrantType {
  return {
    name: format.name,
    parameters: ['assertion', 'scope'],
    async handle({ client, parameters, context: { now }, defaultScope }) {
      const presented = parameters.require('assertion')
      const scope = grantableScope(parameters.get('scope'), client, defaultScope)
      const assertion = await format.verify(presented, now)
      const until = endOfUse(assertion, format, now)
      const owner: unknown = await format.resourceOwner(assertion, client)
      const subject = parseSubject(owner, 'The option resourceOwner of a grant by assertion')
      if (subject === undefined)
        throw invalidGrant('assertion_subject_refused', 'The assertion is not accepted for its subject.')
      // RFC 7521 8.2: good once, and used up by the write that brings the token.
      const oneTimeUse = { key: JSON.stringify([assertion.issuer, assertion.id]), until, refusal: replayed }
      // RFC 7521 4.1: a client comes with a new assertion, so that access ends when its issuer says so.
      return { grant: { subject, scope, refreshToken: false, extensionData: {}, oneTimeUse } }
    },
  }
}

const replayed = () => invalidGrant('assertion_replayed', 'The assertion was used before.')

function endOfUse(
  { expiresAt }: Assertion,
  { clockTolerance, maximumLifetime }: AssertionFormat,
  now: number,
): number {
  if (expiresAt + clockTolerance <= now) throw invalidGrant('assertion_expired', 'The assertion has expired.')
  if (expiresAt > now + maximumLifetime)
    throw invalidGrant('assertion_too_long_lived', 'The assertion is valid for too long.')
  // A process whose clock is behind takes it for one tolerance longer. A time may have a fraction (RFC 7519 2).
  return Math.ceil(expiresAt + 2 * clockTolerance)
}
