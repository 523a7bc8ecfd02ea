import type { Client } from '../../../protocol/client'

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
