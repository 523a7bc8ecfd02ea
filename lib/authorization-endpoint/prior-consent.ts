import type { Client } from '../protocol/client'
import type { ConsentFact } from '../protocol/extension'
import { protocolOf } from '../protocol/uri'
import type { ResponseType } from './response-types'

/** A valid request of a known resource owner, for functions of the host. */
export interface ChoicesQuestion {
  /** The identifier of the client. */
  readonly clientId: string
  /** The resource owner who is logged in. */
  readonly subject: string
  /** The scope of this request. */
  readonly scope: readonly string[]
  /** What extensions add to the consent page, such as the resources that the access is for. */
  readonly facts: readonly ConsentFact[]
  /** The redirection URI of the request. */
  readonly redirectUri: string
}

/**
 * The request that the option `skipConsent` decides about: has this owner approved it before (RFC 6749 4.1.1)? The scope
 * may exceed the scope that the owner approved before. An earlier approval without these facts, or with another choice,
 * is no approval of this request.
 */
export interface PriorConsentQuestion extends ChoicesQuestion {
  /** The only answer to the question of the page, under its name; undefined if the page asks none. */
  readonly choice?: Choice | undefined
}

/** The answer to the question of the consent page, under its name: `{ workspace: 'w1' }`. */
export type Choice = Readonly<Record<string, string>>

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

/**
 * Whether the server may remember that an owner has allowed this. Never for a client that registered itself: everybody
 * can register one under any name.
 */
export function mayRemember(client: Client, responseType: ResponseType, redirectUri: string): boolean {
  return client.selfRegistered !== true && mayHavePriorConsent(client, responseType, redirectUri)
}

/** Reads the result of the host's `skipConsent` function. @throws TypeError for anything but true and false. */
export function parsePriorConsent(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new TypeError('The option skipConsent must return true or false.')
}
