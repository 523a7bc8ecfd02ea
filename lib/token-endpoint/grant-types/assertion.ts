import { longestRepeatable } from '../../jwt/trusted-issuers'
import { aCall, someSeconds } from '../../primitives/fields'
import { type Fields, needed, type Read } from '../../primitives/schema'
import type { Client } from '../../protocol/client'
import { refused } from '../../protocol/refusals'
import { parseSubject } from '../../protocol/resource-owner'
import { grantableScope } from '../../protocol/scope'
import type { DirectGrant, GrantType, TokenRequest } from '../../authorization/grant-type'

/** A verified assertion: JWT or SAML (RFC 7521 5.1). */
export interface Assertion {
  readonly issuer: string
  /** By the name that the issuer uses. */
  readonly subject: string
  /** Unique for its issuer: `jti` of a JWT, `ID` of a SAML assertion. Undefined if it may come again. */
  readonly id: string | undefined
  /** Seconds since the epoch, perhaps with a fraction. */
  readonly expiresAt: number
  /** The other claims of a JWT, or the attributes of a SAML assertion. */
  readonly claims: Readonly<Record<string, unknown>>
}

/**
 * Maps an assertion to a resource owner of the host: a text of 1 to 1024 characters, or undefined, null or
 * false to refuse (`invalid_grant`). Any other value gives `server_error`.
 *
 * Do not return the subject without a mapping: two issuers may use one name for two people.
 */
export type OwnerOfAssertion = (assertion: Assertion, client: Client) => Verdict | Promise<Verdict>

type Verdict = string | undefined | null | false

export interface AssertionOptions {
  readonly resourceOwner: OwnerOfAssertion
  /** Whole seconds by which clocks may differ, 0 to 300. Default 30. */
  readonly clockTolerance?: number
  /**
   * Whole seconds from now to the end of an assertion, 1 to 86 400. Default 3600. The server remembers used
   * assertions until shortly after their end.
   */
  readonly maximumLifetime?: number
}

export const assertionFields = {
  resourceOwner: needed(
    () => undefined,
    aCall<OwnerOfAssertion>(
      'must be a function that takes an assertion and a client, and returns a subject, or undefined to refuse.',
    ),
  ),
  clockTolerance: someSeconds(30, 0, 300),
  maximumLifetime: someSeconds(3600, 1, 86_400),
} satisfies Fields<AssertionOptions>

export type AssertionTerms = Read<typeof assertionFields>

interface GrantTerms extends AssertionTerms {
  /** Seconds. */
  readonly repeatableTokenLifetime?: number
}

interface AssertionFormat extends GrantTerms {
  readonly name: string
  /** Leaves lifetime and single use to {@link assertionGrant}. */
  verify(assertion: string, now: number, issuer: string): Promise<Assertion>
}

export function assertionGrant(format: AssertionFormat): GrantType {
  return {
    name: format.name,
    parameters: ['assertion', 'scope'],
    refreshTokens: false,
    async handle(request) {
      const { client, parameters, context, defaultScope, issuer } = request
      const presented = parameters.require('assertion')
      const scope = grantableScope(parameters.get('scope'), client, defaultScope)
      const assertion = await format.verify(presented, context.now, issuer)
      return { grant: { ...(await grantByAssertion(assertion, request, format)), scope, extensionData: {} } }
    },
  }
}

export async function grantByAssertion(
  assertion: Assertion,
  { client, context: { now } }: Pick<TokenRequest, 'client' | 'context'>,
  terms: GrantTerms,
): Promise<Omit<DirectGrant, 'scope' | 'extensionData'>> {
  const limits = limitsOf(assertion, terms, now)
  const owner: unknown = await terms.resourceOwner(assertion, client)
  const subject = parseSubject(owner, 'The option resourceOwner of a grant by assertion')
  if (subject === undefined) throw refused('assertion_subject_refused')
  // RFC 7521 4.1: access ends when the issuer ends it.
  return { subject, refreshToken: false, ...limits }
}

const replayed = () => refused('assertion_replayed')

function limitsOf(
  { issuer, id, expiresAt }: Assertion,
  { clockTolerance, maximumLifetime, repeatableTokenLifetime = 0 }: GrantTerms,
  now: number,
): Pick<DirectGrant, 'oneTimeUse' | 'expiresAt'> {
  // A token needs a rest of the life of a repeatable assertion.
  const end = id === undefined ? Math.floor(expiresAt) : expiresAt + clockTolerance
  if (end <= now) throw refused('assertion_expired')
  const longest = id === undefined ? longestRepeatable + clockTolerance : maximumLifetime
  if (expiresAt > now + longest) throw refused('assertion_too_long_lived')
  if (id === undefined) return { expiresAt: Math.min(end, now + repeatableTokenLifetime) }
  // Twice: the clock of another process may be behind. RFC 7519 2: a time may have a fraction.
  const until = Math.ceil(expiresAt + 2 * clockTolerance)
  // RFC 7521 8.2.
  return { oneTimeUse: { key: JSON.stringify([issuer, id]), until, refusal: replayed } }
}
