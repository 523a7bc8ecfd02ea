import { isIP } from 'node:net'
import type { Request } from 'express'
import { refused } from '../protocol/refusals'
import { warnOnce } from '../audit/warning'

/** RFC 6749 3.1 and 3.2. Behind a proxy, Express decides by `trust proxy`. */
export function requireTls(request: Request, required: boolean): void {
  if (!required || request.secure) return
  if (!endedTls(request) || isFirstOfProxy())
    warnOnce(
      'EAS_TLS_REQUIRED',
      `The server refused a request because it came over plain HTTP. ${cureFor(request)}`,
    )
  throw refused('tls_required')
}

const numberOrAddresses =
  "app.set('trust proxy', ...) with the number or the addresses of your proxies, and never with true"

const endedTls = ({ headers }: Request): boolean => headers['x-forwarded-proto'] === 'https'

// An untrusted proxy has two consequences, but one warning says both.
let isProxyTold = false

function isFirstOfProxy(): boolean {
  const isFirst = !isProxyTold
  isProxyTold = true
  return isFirst
}

function cureFor(request: Request): string {
  return endedTls(request)
    ? `Its header X-Forwarded-Proto says that a proxy ended TLS, but Express does not trust that proxy: ${numberOrAddresses}.`
    : `If a proxy ends TLS, let the proxy send X-Forwarded-Proto, and let Express trust the proxy: ${numberOrAddresses}. For development, use the issuer http://localhost with its port.`
}

const longestHost = 255

/**
 * RFC 8414 3.3, RFC 9207 2.4: clients find the endpoints at the issuer, and compare it with each response.
 */
export function hostWatch(issuer: string): (request: Request) => void {
  const { host: expected, protocol } = new URL(issuer)
  let judged: string | undefined = expected
  return (request) => {
    if (request.headers.host === judged && !isOfOwnPage(request)) return
    const host = hostOf(request, protocol)
    judged = request.headers.host
    if (host === undefined || host === expected) return
    warnOnce(
      'EAS_ISSUER_HOST',
      `A request arrived at ${host}, but the issuer is ${issuer}. Clients look for the endpoints at the issuer, and compare the issuer with the one they know. Set the option issuer to the URL under which clients reach this server.`,
    )
  }
}

/**
 * Pages of this server name their host in `Origin`, also through a proxy. Else a proxy may have written
 * `Host`; tests and scanners use an IP address.
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

/** Under a wrong `trust proxy`, all networks look like one, or each sender chooses its network. */
export function proxyWatch(): (request: Request) => void {
  let looked = false
  return (request) => {
    const forwarded = request.headers['x-forwarded-for'] !== undefined
    if (looked && !forwarded) return
    looked = true
    const trust: unknown = request.app.get('trust proxy')
    if (trust === true)
      warnOnce(
        'EAS_TRUST_PROXY',
        'Express trusts every proxy, so any sender of X-Forwarded-For chooses the network that counts against the limits. Set trust proxy to the number or the addresses of your proxies.',
      )
    else if (trust === false && forwarded) warnOfUntrustedProxy(request)
  }
}

function warnOfUntrustedProxy(request: Request): void {
  const endsTls = endedTls(request)
  if (endsTls && !isFirstOfProxy()) return
  const alsoTls = endsTls ? ', and a server with an https issuer refuses them as plain HTTP' : ''
  warnOnce(
    'EAS_TRUST_PROXY',
    `A request has the header X-Forwarded-For, but Express trusts no proxy: all requests through one proxy count as one network${alsoTls}. Set trust proxy to the number or the addresses of your proxies.`,
  )
}
