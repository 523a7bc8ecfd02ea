import { type Client, passesNetworkLimit } from '../protocol/client'
import { shortKey } from '../protocol/credential'
import { networksOf } from './network'

/**
 * The client, if it has proven itself by credentials that the host registered. Otherwise the sender: anybody may name a
 * public client or make one with a key, so strangers could use up its share.
 */
export const shareOf = (client: Client, address: string | undefined): string =>
  passesNetworkLimit(client) ? client.client_id : `network ${networksOf(address)[0]?.network}`

/** A guard knows no registration: a client acts for itself, or for one owner. */
export const shareOfToken = (clientId: string, subject: string | undefined): string =>
  // RFC 6749 appendix A.1: client identifiers have no line break, so different pairs make different keys.
  subject === undefined ? clientId : `${clientId}\n${shortKey(subject)}`
