import type { Client } from './client'
import { holdsResponseParameter } from './response-parameters'
import { hasUriCharacters } from './uri'

type Registered = Pick<Client, 'redirect_uris' | 'loopback_redirect_uris' | 'dynamic_redirect_query'>

/**
 * Whether a redirection URI of a request is one of the client's: by simple string comparison (RFC 6749 3.1.2.3 and
 * RFC 3986 6.2.1), but for the port and the query where the client has opted in. Nothing is parsed or normalised, so
 * that what was compared is what a browser gets.
 */
export function isRegisteredRedirectUri(client: Registered, sent: string): boolean {
  const { redirect_uris, loopback_redirect_uris, dynamic_redirect_query } = client
  const fixed = dynamic_redirect_query ? withoutDynamicQuery(sent) : sent
  if (fixed === undefined) return false
  if (redirect_uris.includes(fixed)) return true
  const loopback = loopback_redirect_uris ? loopbackUri(fixed) : undefined
  return loopback !== undefined && redirect_uris.some((uri) => loopbackUri(uri) === loopback)
}

/**
 * A redirection URI on a loopback address without its port, which the operating system chooses (RFC 8252 7.3);
 * undefined for any other. RFC 8252 8.3: `localhost` is none, because it may resolve to something else.
 */
export function loopbackUri(uri: string): string | undefined {
  const [, host, port = '1', path] =
    /^http:\/\/(127\.0\.0\.1|\[::1\])(?::([1-9]\d{0,4}))?(\/.*)$/.exec(uri) ?? []
  if (host === undefined || path === undefined || Number(port) > 65_535) return undefined
  return `http://${host}${path}`
}

// RFC 6749 3.1.2.2: only the query varies. It ends at the end of the text, so a fragment cannot hide in it.
function withoutDynamicQuery(uri: string): string | undefined {
  const question = uri.indexOf('?')
  if (question < 0) return uri
  const query = uri.slice(question + 1)
  if (query.includes('#') || (query !== '' && !hasUriCharacters(query)) || holdsResponseParameter(query))
    return undefined
  return uri.slice(0, question)
}
