import { type Client, passesNetworkLimit } from '../protocol/client'
import { shortKey } from '../protocol/credential'
import { type CountedNetwork, networksOf } from './network'

/** What a limit counts a request for: its client, or the networks of its sender. */
type CountedFor =
  { readonly client: string } | { readonly client?: undefined; readonly networks: readonly CountedNetwork[] }

/**
 * What a request may be counted for, at every limit: its client, if the client has proven itself by credentials that the
 * host has registered. Otherwise its sender: everybody may say the name of a public client, or make a client with a key,
 * and a share by such a name would be one that strangers use up.
 *
 * @param client the client that has authenticated, or that has named itself if it is public.
 */
export function countedFor(client: Client, address: string | undefined): CountedFor {
  return passesNetworkLimit(client) ? { client: client.client_id } : { networks: networksOf(address) }
}

/** The same as one text, for shares that are equal: the client, or the widest network of the sender. */
export function shareOf(client: Client, address: string | undefined): string {
  const counted = countedFor(client, address)
  return counted.client ?? `network ${counted.networks[0]?.network}`
}

/** The share of a token at a guard, which knows no registration: a client acts for itself, or for one owner. */
export const shareOfToken = (clientId: string, subject: string | undefined): string =>
  // A client identifier has no line break (RFC 6749 appendix A.1), so different pairs always make different keys.
  subject === undefined ? clientId : `${clientId}\n${shortKey(subject)}`
