import type { OutgoingHttpHeaders } from 'node:http'
import type { Response } from 'express'
import { requestIdName } from '../audit/audit-log'
import { errorMembers, type ErrorText, headersOf, type OAuthError, statusOf } from '../protocol/oauth-error'
import { protocolOf } from '../protocol/uri'
import type { RenderedByHost } from '../doors/page-endpoint'
import type { PageLocales } from '../pages/texts/locale'
import type { Exchange } from './edge'

type Headers = Readonly<Record<string, string | string[]>>

/** `res.json` would negotiate, and compute an ETag that no client uses. */
export function sendJson(response: Response, status: number, body: object, more?: Headers): void {
  if (status === 204)
    return void response.writeHead(204, { 'Cache-Control': 'no-store', Pragma: 'no-cache', ...more }).end()
  const text = JSON.stringify(body)
  sendText(response, status, text, {
    // RFC 6749 5.1
    'Cache-Control': 'no-store',
    Pragma: 'no-cache',
    'Content-Type': 'application/json; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': Buffer.byteLength(text),
    ...more,
  })
}

/** RFC 6749 5.2. */
export function sendJsonError(
  response: Response,
  status: number,
  error: ErrorText,
  errorUri: string | undefined,
  headers: Headers = {},
): void {
  sendJson(response, status, errorMembers(error, errorUri), headers)
}

export const privatePage = {
  'Cache-Control': 'no-store',
  Pragma: 'no-cache',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

/**
 * @param formTargets further targets of the form; undefined for no form. Browsers check `form-action` for
 * every redirect that follows.
 * @param scriptSource the hash of the page's one script.
 */
export function sendPage(
  response: Response,
  status: number,
  page: string,
  locales: PageLocales,
  formTargets?: readonly string[],
  scriptSource?: string,
): void {
  const script = scriptSource === undefined ? '' : ` script-src ${scriptSource};`
  sendText(response, status, page, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': `default-src 'none';${script} style-src ${locales.styleSource}; img-src 'self' https:; ${formActionOf(formTargets)}; frame-ancestors 'none'; base-uri 'none'`,
    'Content-Length': Buffer.byteLength(page),
    ...privatePage,
  })
}

export function sendOwn(
  { server, request, response }: Exchange,
  { html, render }: { readonly html?: string } & Partial<Pick<RenderedByHost, 'render'>>,
  status: number,
  formTargets?: readonly string[],
): unknown {
  if (html !== undefined) return sendPage(response, status, html, server.settings.pageLocales, formTargets)
  response.status(status).set(privatePage)
  return render?.(request, response)
}

export function errorPageOf(error: OAuthError) {
  const status = statusOf(error, pageStatus)
  return { status, headers: headersOf(error), isTrouble: status >= 500 || status === 429 }
}

// RFC 9110 15.5.2: 401 demands a challenge, which a page has not.
const pageStatus = { invalid_client: 400, invalid_token: 400 }

export const formActionOf = (formTargets: readonly string[] | undefined): string =>
  `form-action ${formTargets === undefined ? "'none'" : ["'self'", ...formTargets].join(' ')}`

/** Schemes, not hosts: a client may send its user on, and `[::1]` has no source expression. */
export const formTargetsOf = (redirectUri: string): readonly string[] => [
  ...new Set(['https:', protocolOf(redirectUri)]),
]

/** RFC 9700 4.12: after 303, the user agent sends `GET`. */
export function redirectTo(response: Response, location: string, requestId?: string): void {
  const headers: OutgoingHttpHeaders = {
    Location: location,
    'Cache-Control': 'no-store',
    Pragma: 'no-cache',
    'Content-Length': 0,
  }
  if (requestId !== undefined) headers[requestIdName] = requestId
  response.writeHead(303, headers).end()
}

function sendText(response: Response, status: number, text: string, headers: OutgoingHttpHeaders): void {
  // Node writes Latin-1, equal for ASCII, without encoding.
  const isAscii = headers['Content-Length'] === text.length
  response.writeHead(status, headers).end(text, isAscii ? 'latin1' : 'utf8')
}
