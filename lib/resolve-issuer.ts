import { isText, type OptionsReader } from './protocol/configuration'
import { hasUriCharacters, isLoopback, namesHost } from './protocol/uri'
import type { ServerSettings } from './settings'

const example = 'such as https://example.com or http://localhost:3000'

/**
 * Reads the issuer (RFC 8414 2) and what follows from it: where the router is mounted and whether TLS is required.
 *
 * @param whose what the issuer is the URL of, in the message when it is missing.
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
  // Clients compare it letter by letter (RFC 9207 2.4), so nothing in it may need mending.
  if (!URL.canParse(issuer) || !hasUriCharacters(issuer) || !namesHost(issuer)) {
    reading.wrong('issuer', `must be an absolute URL, ${example}.`)
    return { issuer, mount: '', tlsRequired: true }
  }
  const url = new URL(issuer)
  // RFC 6749 3.1 and 3.2: TLS on both endpoints; a loopback host is for development.
  const plain = url.protocol === 'http:' && isLoopback(url.hostname)
  if (url.protocol !== 'https:' && !plain)
    reading.wrong('issuer', 'must use https unless its host is loopback.')
  if (issuer.includes('?') || issuer.includes('#'))
    reading.wrong('issuer', 'must not have a query or a fragment.')
  // The host mounts the router at this path, and a client asks for the one that a URL parser makes of it.
  if (!/[?#]/.test(issuer) && pathIn(issuer) !== url.pathname)
    reading.wrong('issuer', "must have its path as a URL parser writes it, without '.' and '..' segments.")
  if (url.username !== '' || url.password !== '')
    reading.wrong('issuer', 'must not hold a user name or password.')
  return { issuer, mount: url.pathname.replace(/\/+$/, ''), tlsRequired: !plain }
}

const pathIn = (issuer: string) => issuer.slice(issuer.indexOf('//') + 2).replace(/^[^/]*/, '') || '/'
