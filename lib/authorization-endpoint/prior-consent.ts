import type { Client } from '../protocol/client'
import type { ChoicesQuestion } from '../protocol/extension'
import { protocolOf } from '../protocol/uri'
import type { ResponseTypeDescription } from '../protocol/response-types'

/**
 * The option `skipConsent` decides whether this owner has approved the request before (RFC 6749 4.1.1). The scope may
 * exceed what the owner approved. An approval without these facts, or with another choice, is no approval of this
 * request.
 */
export interface PriorConsentQuestion extends ChoicesQuestion {
  readonly redirectUri: string
  /** The only answer to the question of the page; undefined if the page asks none. */
  readonly choice?: Choice | undefined
}

/** The answer to the question of the consent page, under its name: `{ workspace: 'w1' }`. */
export type Choice = Readonly<Record<string, string>>

/**
 * A public client needs an https redirection URI: at any other, and without one, another app could pass for it (RFC
 * 6749 10.2, RFC 8252 8.6).
 */
const isProven = ({ client_type }: Client, redirectUri: string | undefined): boolean =>
  client_type === 'confidential' || (redirectUri !== undefined && protocolOf(redirectUri) === 'https:')

/**
 * A response with a token always needs a new approval, and so does a request without a redirection URI: its owner
 * compares the code (RFC 8628 5.4).
 */
export const mayHavePriorConsent = (
  client: Client,
  { grantTypes }: ResponseTypeDescription,
  redirectUri: string | undefined,
): boolean =>
  redirectUri !== undefined &&
  isProven(client, redirectUri) &&
  grantTypes.every((name) => name === 'authorization_code')

/** Never for a client that registered itself: everybody can register one under any name. */
export const mayRemember = (
  client: Client,
  responseType: ResponseTypeDescription,
  redirectUri: string | undefined,
): boolean =>
  client.selfRegistered !== true &&
  (redirectUri === undefined
    ? isProven(client, redirectUri)
    : mayHavePriorConsent(client, responseType, redirectUri))

export function parsePriorConsent(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new TypeError('The option skipConsent must return true or false.')
}
