import type { Request, Response } from 'express'
import { warnOnce } from '../audit/warning'
import type { ServerContext } from '../server/context'

const header = 'Cross-Origin-Opener-Policy'
// HTML 7.1.3: a browser cuts a popup from its opener at the first response, redirects included, with another policy.
// `same-origin-allow-popups` is for the page that opens.
const keeps = 'unsafe-none'

/** Lets a popup keep the client that opened it past this response, if the host wants it so. */
export function keepOpener({ settings }: ServerContext, response: Response): void {
  if (settings.popups) response.setHeader(header, keeps)
}

/**
 * Warns if the policy of the host cuts popups at the page of the login, which the server cannot see. The policy on this
 * response is the same if one middleware, such as helmet, sets both.
 */
export function warnOfLoginOpener({ settings }: ServerContext, request: Request, response: Response): void {
  // A page of the host sent the browser here. From the client, the value is `cross-site` or `same-site`.
  if (!settings.popups || request.headers['sec-fetch-site'] !== 'same-origin') return
  warnIfCut(response, 'the page of the login, and the authorization endpoint,')
}

/** Warns if the page of the option `pages.consent` has a policy that cuts popups. */
export function warnOfOwnPageOpener({ settings }: ServerContext, response: Response): void {
  if (settings.popups)
    response.once('finish', () => warnIfCut(response, 'the page of the option pages.consent'))
}

function warnIfCut(response: Response, page: string): void {
  const policy = response.getHeader(header)
  if (policy === undefined || policy === keeps) return
  warnOnce(
    'EAS_OPENER_POLICY',
    `A middleware of this server sends ${header}: ${String(policy)}, which cuts a popup from the client that opened it, although pages.popups is set: send ${page} without it.`,
    page,
  )
}
