import { isText, type OptionsReader } from '../primitives/options-reader'
import { hasUriCharacters, hasUserinfo, isLoopback, namesHost } from '../protocol/uri'
import type { ServerSettings } from './settings'

const example = 'such as https://example.com or http://localhost:3000'

/**
 * Reads the issuer (RFC 8414 2), with the path at which the host mounts the router, and whether requests need TLS.
 *
 * @param whose names the owner of the URL, for the message about a missing issuer.
 */
export function resolveIssuer(
  reading: OptionsReader,
  whose = 'this server',
): Pick<ServerSettings, 'issuer' | 'mount' | 'tlsRequired'> {
  const issuer = reading.required(
    'issuer',
    'http://localhost',
    isText,
    `must be the URL of ${whose}, ${example}.`,
  )
  // Clients compare the issuer letter by letter (RFC 9207 2.4), so the text must already be a normal URL.
  if (!URL.canParse(issuer) || !hasUriCharacters(issuer) || !namesHost(issuer)) {
    reading.wrong('issuer', `must be an absolute URL, ${example}.`)
    return { issuer, mount: '', tlsRequired: true }
  }
  const url = new URL(issuer)
  // RFC 6749 3.1 and 3.2: both endpoints need TLS. The exception for loopback hosts is for development.
  const plain = url.protocol === 'http:' && isLoopback(url.hostname)
  if (url.protocol !== 'https:' && !plain)
    reading.wrong('issuer', 'must use https unless its host is loopback.')
  if (issuer.includes('?') || issuer.includes('#'))
    reading.wrong('issuer', 'must not have a query or a fragment.')
  // The host mounts the router at this path, but clients request the path that a URL parser makes of the issuer.
  if (!/[?#]/.test(issuer) && pathIn(issuer) !== url.pathname)
    reading.wrong('issuer', "must have its path as a URL parser writes it, without '.' and '..' segments.")
  if (hasUserinfo(url)) reading.wrong('issuer', 'must not hold a user name or password.')
  return { issuer, mount: url.pathname.replace(/\/+$/, ''), tlsRequired: !plain }
}

const pathIn = (issuer: string) => issuer.slice(issuer.indexOf('//') + 2).replace(/^[^/]*/, '') || '/'
