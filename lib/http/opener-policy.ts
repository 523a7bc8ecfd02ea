import type { Response } from 'express'
import { warnOnce } from '../audit/warning'
import type { Exchange } from './edge'

const header = 'Cross-Origin-Opener-Policy'
// HTML 7.1.3: a browser cuts a popup from its opener at the first response, redirects included, with another
// policy. `same-origin-allow-popups` is for the page that opens.
const keeps = 'unsafe-none'

export function keepOpener({ server, response }: Exchange): void {
  if (server.settings.popups) response.setHeader(header, keeps)
}

/**
 * The server cannot see the policy of the login page. Here it is the same if one middleware, such as helmet,
 * sets both.
 */
export function warnOfLoginOpener({ server, request, response }: Exchange): void {
  // From a page of the host; from a client, it is `cross-site` or `same-site`.
  if (!server.settings.popups || request.headers['sec-fetch-site'] !== 'same-origin') return
  warnIfCut(response, 'the page of the login, and the authorization endpoint,')
}

export function warnOfOwnPageOpener({ server, response }: Exchange): void {
  if (server.settings.popups)
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
