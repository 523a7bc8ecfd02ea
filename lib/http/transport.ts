import { isIP } from 'node:net'
import type { Request } from 'express'
import { invalidRequest, type OAuthError } from '../protocol/oauth-error'
import { warnOnce } from '../audit/warning'

/**
 * Refuses a request that did not come over TLS (RFC 6749 3.1 and 3.2). Behind a proxy that ends TLS, Express knows by
 * its `trust proxy` setting.
 */
export function requireTls(request: Request, required: boolean): void {
  if (required && !request.secure) throw refused(request)
}

function refused(request: Request): OAuthError {
  warnOnce('EAS_TLS_REQUIRED', `A request was refused because it came over plain HTTP. ${cureFor(request)}`)
  return invalidRequest('tls_required', 'This endpoint must be used over TLS.')
}

const numberOrAddresses =
  "app.set('trust proxy', ...) with the number or the addresses of your proxies, and never with true"

function cureFor({ headers }: Request): string {
  return headers['x-forwarded-proto'] === 'https'
    ? `Its header X-Forwarded-Proto says that a proxy ended TLS, but Express does not trust that proxy: ${numberOrAddresses}.`
    : `If a proxy ends TLS, have it send X-Forwarded-Proto, and let Express trust it: ${numberOrAddresses}.`
}

const longestHost = 255

/**
 * Watches for requests at another host or port than the issuer names: clients are sent to the endpoints of the issuer,
 * and hold the issuer of each answer against the one that they know (RFC 8414 3.3, RFC 9207 2.4).
 */
export function hostWatch(issuer: string): (request: Request) => void {
  const { host: expected, protocol } = new URL(issuer)
  // Most requests of a server have one `Host`, and it is judged once.
  let judged: string | undefined = expected
  return (request) => {
    if (request.headers.host === judged && !isOfOwnPage(request)) return
    const host = hostOf(request, protocol)
    judged = request.headers.host
    if (host === undefined || host === expected) return
    warnOnce(
      'EAS_ISSUER_HOST',
      `A request came in at ${host}, but the issuer is ${issuer}. Clients look for the endpoints at the issuer and compare it with the one they know: set the option issuer to the URL under which they reach this server.`,
    )
  }
}

/**
 * The host and port that the sender of a request has in its address bar; undefined where nobody can tell. A page of our
 * own names them in `Origin`, whatever stands in between. Else a proxy may have written another `Host`, and an address in
 * place of a name is how tests, health checks and scanners ask.
 */
function hostOf(request: Request, protocol: string): string | undefined {
  const { headers } = request
  const { host = '', origin } = headers
  if (isOfOwnPage(request) && origin?.startsWith('http') === true) return named(origin)
  if (Object.keys(headers).some((name) => /^(?:x-forwarded-.*|forwarded|via)$/.test(name))) return undefined
  const direct = named(`${protocol}//${host}`)
  return direct === undefined || isAddress(direct) ? undefined : direct
}

const isOfOwnPage = ({ headers }: Request): boolean => headers['sec-fetch-site'] === 'same-origin'

function named(url: string): string | undefined {
  if (url.length > longestHost || !URL.canParse(url)) return undefined
  return new URL(url).host
}

const isAddress = (host: string): boolean => isIP(host.replace(/:\d+$/, '').replaceAll(/[[\]]/g, '')) !== 0

/** Warns, once, of a setting by which all networks look like one, or each can choose which it looks like. */
export function proxyWatch(): (request: Request) => void {
  let looked = false
  return (request) => {
    const forwarded = request.headers['x-forwarded-for'] !== undefined
    if (looked && !forwarded) return
    looked = true
    warnOfProxy(request.app.get('trust proxy'), forwarded)
  }
}

function warnOfProxy(trust: unknown, forwarded: boolean): void {
  if (trust === true)
    warnOnce(
      'EAS_TRUST_PROXY',
      'Express is set to trust every proxy, so whoever sends X-Forwarded-For chooses the network that counts against the limits. Set trust proxy to the number or the addresses of your proxies.',
    )
  else if (trust === false && forwarded)
    warnOnce(
      'EAS_TRUST_PROXY',
      'A request has the header X-Forwarded-For, but Express trusts no proxy: all that come through one count as one network. Set trust proxy to the number or the addresses of your proxies.',
    )
}
