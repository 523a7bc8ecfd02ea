import { namesHost, plainUrl } from '../protocol/uri'
import { DocumentUnavailable } from './document-unavailable'

/** Where a document is. */
export interface Target {
  /** A name in lower case, or an IP address without brackets, as the URL parser writes them. */
  readonly hostname: string
  readonly port: number
  /** The value of the header `Host`. */
  readonly host: string
  /** The path and the query. */
  readonly path: string
}

const longest = 2048

/**
 * Reads an https URL of at most 2048 characters, without user name, password and fragment. The URL parser repairs no
 * part of it, because other software would then fetch from elsewhere. An IP address in any spelling becomes the usual
 * one.
 *
 * @throws DocumentUnavailable for every other text.
 */
export function parseTarget(text: string): Target {
  const url = text.length > longest || !namesHost(text) ? undefined : plainUrl(text)
  // Also credentials without a character, which a URL parser drops.
  const hasCredentials = /^[^/]*\/\/[^/?#]*@/.test(text)
  // A name with a dot at its end has another certificate and another count than the same name without.
  if (url?.protocol !== 'https:' || hasCredentials || url.hostname.endsWith('.'))
    throw new DocumentUnavailable('url')
  const { port, host, hostname, pathname, search } = url
  return {
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 443 : Number(port),
    host,
    path: pathname + search,
  }
}
