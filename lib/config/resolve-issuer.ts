import { aTextThat } from '../primitives/fields'
import { type Field, needed } from '../primitives/schema'
import { hasUriCharacters, hasUserinfo, isLoopback, namesHost } from '../protocol/uri'
import type { ServerSettings } from './settings'

const example = 'such as https://example.com or http://localhost:3000'

/** RFC 8414 2 */
export const anIssuer =
  (whose: string): Field<Pick<ServerSettings, 'issuer' | 'mount' | 'tlsRequired'>> =>
  (given, at, name) => {
    const wrong = (message: string) => at.wrong(name, message)
    const text = needed('http://localhost', aTextThat(`must be the URL of ${whose}, ${example}.`))
    const issuer = text(given, at, name)
    // RFC 9207 2.4: clients compare the issuer letter by letter, so the text must be a normal URL.
    if (!URL.canParse(issuer) || !hasUriCharacters(issuer) || !namesHost(issuer)) {
      wrong(`must be an absolute URL, ${example}.`)
      return { issuer, mount: '', tlsRequired: true }
    }
    const url = new URL(issuer)
    // RFC 6749 3.1 and 3.2: both endpoints need TLS. Loopback is for development.
    const plain = url.protocol === 'http:' && isLoopback(url.hostname)
    if (url.protocol !== 'https:' && !plain) wrong('must use https unless its host is loopback.')
    if (issuer.includes('?') || issuer.includes('#')) wrong('must not have a query or a fragment.')
    // The host mounts the router at this path, but clients request the path that a URL parser makes of it.
    if (!/[?#]/.test(issuer) && pathIn(issuer) !== url.pathname)
      wrong("must have its path as a URL parser writes it, without '.' and '..' segments.")
    if (hasUserinfo(url)) wrong('must not hold a user name or password.')
    return { issuer, mount: url.pathname.replace(/\/+$/, ''), tlsRequired: !plain }
  }

const pathIn = (issuer: string) => issuer.slice(issuer.indexOf('//') + 2).replace(/^[^/]*/, '') || '/'
