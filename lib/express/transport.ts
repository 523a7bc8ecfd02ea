import type { Request } from 'express'
import { invalidRequest } from '../protocol/oauth-error'

/**
 * Refuses a request that did not come over TLS (RFC 6749 3.1 and 3.2). Behind a proxy that ends TLS, Express knows by
 * its `trust proxy` setting.
 */
export function requireTls(request: Request, required: boolean): void {
  if (required && !request.secure)
    throw invalidRequest('tls_required', 'This endpoint must be used over TLS.')
}
