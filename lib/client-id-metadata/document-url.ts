import { isTooLong } from '../protocol/parameters'
import { plainUrl } from '../protocol/uri'

/** A `client_id` that is the URL of a metadata document. */
export interface DocumentUrl {
  /** The URL, as the client writes it. */
  readonly clientId: string
  /** The host, with its port unless it is the usual one. */
  readonly host: string
}

/**
 * Parses the URL of a metadata document; undefined for any other `client_id`. The URL uses https and has a path, no dot
 * segments, no fragment and no credentials (draft-ietf-oauth-client-id-metadata-document 3).
 *
 * Only the usual port may be written out. Otherwise, the text must be what a URL parser makes of it, so that no two
 * texts pass for one host. A parser removes dot segments, also `%2e`, so such a URL differs from its text.
 */
export function documentUrl(clientId: string): DocumentUrl | undefined {
  if (!clientId.startsWith('https://') || isTooLong('client_id', clientId)) return undefined
  const url = plainUrl(clientId)
  const isUnrepaired = url?.href === clientId.replace(/^(https:\/\/[^/?]+):443\//, '$1/')
  return url !== undefined && isUnrepaired ? { clientId, host: url.host } : undefined
}
