import type { Client } from '../protocol/client'
import { protocolOf } from '../protocol/uri'
import type { ResponseType } from './response-type'

/** What the host is asked about: whether this owner's approval of it is established already (RFC 6749 4.1.1). */
export interface PriorConsentQuestion {
  readonly clientId: string
  /** The resource owner who is logged in. */
  readonly subject: string
  /** What is asked for now, which may be more than was approved before. */
  readonly scope: readonly string[]
  readonly redirectUri: string
}

/**
 * Whether an approval may be taken as given for the request at all. RFC 6749 10.2, RFC 8252 8.6: not where another app could
 * pass for the client, which a public one at anything but https cannot prevent; and never where a token is in the answer.
 */
export function mayHavePriorConsent(
  { client_type }: Client,
  { grantTypes }: ResponseType,
  redirectUri: string,
): boolean {
  const isTold = client_type === 'confidential' || protocolOf(redirectUri) === 'https:'
  return isTold && grantTypes.every((name) => name === 'authorization_code')
}

/** Reads what the host's `skipConsent` function returned. @throws TypeError for what is merely truthy. */
export function parsePriorConsent(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new TypeError('The option skipConsent must return true or false.')
}
