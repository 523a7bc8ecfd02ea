import { type Client, passesNetworkLimit } from '../protocol/client'
import { shortKey } from '../protocol/credential'
import { type CountedNetwork, networksOf } from './network'

type CountedFor =
  { readonly client: string } | { readonly client?: undefined; readonly networks: readonly CountedNetwork[] }

/**
 * What every limit counts a request for: its client, if it has proven itself by credentials that the host
 * registered. Otherwise its sender: anybody may name a public client, or make a client with a key, so
 * strangers could use up a share by such a name.
 *
 * @param client has authenticated, or has named itself if it is public.
 */
export function countedFor(client: Client, address: string | undefined): CountedFor {
  return passesNetworkLimit(client) ? { client: client.client_id } : { networks: networksOf(address) }
}

/** One text, for equal shares: the client, or the widest network of the sender. */
export function shareOf(client: Client, address: string | undefined): string {
  const counted = countedFor(client, address)
  return counted.client ?? `network ${counted.networks[0]?.network}`
}

/** A guard knows no registration: a client acts for itself, or for one owner. */
export const shareOfToken = (clientId: string, subject: string | undefined): string =>
  // RFC 6749 appendix A.1: a client identifier has no line break, so different pairs make different keys.
  subject === undefined ? clientId : `${clientId}\n${shortKey(subject)}`
