import { isText } from '../../../protocol/configuration'
import { digest } from '../../../protocol/credential'
import { grantableScope } from '../../../protocol/grantable-scope'
import { invalidGrant } from '../../../protocol/oauth-error'
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
    async prove({ client, parameters, circumstances: { now }, defaultScope, counters }) {
      const presented = parameters.require('assertion')
      const scope = grantableScope(parameters.get('scope'), client, defaultScope)
      const assertion = await format.verify(presented, now)
      const remembered = secondsToRemember(assertion, format, now)
      const subject = await format.resourceOwner(assertion, client)
      if (!isText(subject))
        throw invalidGrant('assertion_subject_refused', 'The assertion is not accepted for its subject.')
      // Spent last, so that only a request that gets tokens uses the assertion up (RFC 7521 8.2).
      if (!(await counters.spend(keyOf(format, assertion), remembered)))
        throw invalidGrant('assertion_replayed', 'The assertion was used before.')
      // RFC 7521 4.1: a client comes with a new assertion, so that access ends when its issuer says so.
      return { grant: { subject, scope, refreshToken: false, bindings: {} } }
    },
  }
}

function secondsToRemember(
  { expiresAt }: Assertion,
  { clockTolerance, maximumLifetime }: AssertionFormat,
  now: number,
): number {
  if (expiresAt + clockTolerance <= now) throw invalidGrant('assertion_expired', 'The assertion has expired.')
  if (expiresAt > now + maximumLifetime)
    throw invalidGrant('assertion_too_long_lived', 'The assertion is valid for too long.')
  // A time may have a fraction (RFC 7519 2); counters count whole seconds.
  return Math.ceil(expiresAt + clockTolerance - now)
}

// A digest, because an issuer's texts may be of any length and hold anything; JSON, so that no two pairs read the same.
function keyOf({ name }: AssertionFormat, { issuer, id }: Assertion): string {
  return `assertion:${digest(JSON.stringify([name, issuer, id]))}`
}
