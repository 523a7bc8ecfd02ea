import type { Request } from 'express'
import { invalidRequest, type OAuthError } from '../protocol/oauth-error'
import { warnOnce } from '../warning'

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
