import type { Client } from '../protocol/client'
import type { ConsentFact } from '../protocol/extension'
import { protocolOf } from '../protocol/uri'
import type { ResponseType } from './response-types'

/** The request that the option `skipConsent` decides about: has this owner approved it before (RFC 6749 4.1.1)? */
export interface PriorConsentQuestion {
  /** The identifier of the client. */
  readonly clientId: string
  /** The resource owner who is logged in. */
  readonly subject: string
  /** The scope of this request, which may exceed the scope that the owner approved before. */
  readonly scope: readonly string[]
  /**
   * What extensions add to the consent page, such as the resources that the access is for. An earlier approval without
   * these facts is no approval of this request.
   */
  readonly facts: readonly ConsentFact[]
  /** The redirection URI of the request. */
  readonly redirectUri: string
}

/**
 * Whether an earlier approval may stand for this request at all. A public client must have an https redirection URI: at
 * any other URI, another app could pass for the client (RFC 6749 10.2, RFC 8252 8.6). A response that carries a token
 * always needs a new approval.
 */
export function mayHavePriorConsent(
  { client_type }: Client,
  { grantTypes }: ResponseType,
  redirectUri: string,
): boolean {
  const isProvenClient = client_type === 'confidential' || protocolOf(redirectUri) === 'https:'
  return isProvenClient && grantTypes.every((name) => name === 'authorization_code')
}

/** Reads the result of the host's `skipConsent` function. @throws TypeError for anything but true and false. */
export function parsePriorConsent(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new TypeError('The option skipConsent must return true or false.')
}
