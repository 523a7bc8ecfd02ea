import { holdsResponseParameter } from './response-parameters'
import { hasUriCharacters, isLoopback, namesHost, protocolOf } from './uri'

// A browser runs or opens these in the place of the page that redirects.
const forbiddenSchemes = new Set([
  'javascript:',
  'data:',
  'vbscript:',
  'blob:',
  'file:',
  'filesystem:',
  'about:',
  'view-source:',
])

/**
 * What is wrong with a redirection URI that is to be registered, as the end of a sentence; undefined when it is
 * good. RFC 6749 3.1.2: absolute, no fragment; a query is allowed, without names of the answer. `insecure` lets plain
 * http pass.
 */
export function redirectUriFault(
  text: string,
  { insecure = false }: { readonly insecure?: boolean } = {},
): string | undefined {
  if (!hasUriCharacters(text)) return 'holds characters that a URI cannot hold; percent-encode them'
  if (text.includes('#')) return 'must not have a fragment; remove the # and what follows it'
  const question = text.indexOf('?')
  if (question >= 0 && holdsResponseParameter(text.slice(question + 1)))
    return 'must not have a query with a name that belongs to the answer, such as code, state or scope; rename it'
  if (!URL.canParse(text)) return 'must be an absolute URI, such as https://client.example/callback'
  const url = new URL(text)
  if (forbiddenSchemes.has(url.protocol)) return `must not use the scheme ${url.protocol}`
  if (/^[^:]*:\/\/[^/?]*@/.test(text)) return 'must not hold a user name or password'
  // RFC 6749 3.1.2.1: the code crosses the network in this URI.
  if (!insecure && isInsecure(text))
    return 'must use https unless its host is loopback or the client has insecure_redirect_uris'
  if (/^https?:$/.test(url.protocol) && !namesHost(text)) return 'must name its host after //'
  return undefined
}

/** Whether what goes to this URI crosses the network in the clear. */
export function isInsecure(uri: string): boolean {
  return protocolOf(uri) === 'http:' && !isLoopback(new URL(uri).hostname)
}

/**
 * Appends parameters to the query of a redirection URI and leaves every byte of the URI as it was registered
 * (RFC 6749 3.1.2: a query component is retained). `URL` would normalise it, and a client may compare.
 */
export function appendToQuery(redirectUri: string, parameters: Readonly<Record<string, string>>): string {
  const question = redirectUri.indexOf('?')
  const open = question === redirectUri.length - 1 || redirectUri.endsWith('&')
  const separator = question < 0 ? '?' : open ? '' : '&'
  return redirectUri + separator + new URLSearchParams(parameters).toString()
}
