import type { Client } from '../protocol/client'
import type { ChoicesQuestion } from '../protocol/extension'
import { protocolOf } from '../protocol/uri'
import type { ResponseType } from '../authorization/response-types'

/**
 * The option `skipConsent` decides whether this owner has approved the request before (RFC 6749 4.1.1). The scope may
 * exceed what the owner approved. An approval without these facts, or with another choice, is no approval of this
 * request.
 */
export interface PriorConsentQuestion extends ChoicesQuestion {
  /** The only answer to the question of the page; undefined if the page asks none. */
  readonly choice?: Choice | undefined
}

/** The answer to the question of the consent page, under its name: `{ workspace: 'w1' }`. */
export type Choice = Readonly<Record<string, string>>

/**
 * A public client needs an https redirection URI: at any other, another app could pass for it (RFC 6749 10.2, RFC 8252
 * 8.6). A response with a token always needs a new approval.
 */
export function mayHavePriorConsent(
  { client_type }: Client,
  { grantTypes }: ResponseType,
  redirectUri: string,
): boolean {
  const isProvenClient = client_type === 'confidential' || protocolOf(redirectUri) === 'https:'
  return isProvenClient && grantTypes.every((name) => name === 'authorization_code')
}

/** Never for a client that registered itself: everybody can register one under any name. */
export const mayRemember = (client: Client, responseType: ResponseType, redirectUri: string): boolean =>
  client.selfRegistered !== true && mayHavePriorConsent(client, responseType, redirectUri)

export function parsePriorConsent(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new TypeError('The option skipConsent must return true or false.')
}
