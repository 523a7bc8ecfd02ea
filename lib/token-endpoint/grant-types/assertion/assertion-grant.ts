import { grantableScope } from '../../../protocol/grantable-scope'
import { invalidGrant } from '../../../protocol/oauth-error'
import { parseSubject } from '../../../protocol/resource-owner'
import type { GrantType } from '../../grant-type'
import type { Assertion, OwnerOfAssertion } from './assertion'

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
