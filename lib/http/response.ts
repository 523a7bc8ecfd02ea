import type { OutgoingHttpHeaders } from 'node:http'
import type { Response } from 'express'
import { errorMembers, type ErrorText } from '../protocol/oauth-error'
import { protocolOf } from '../protocol/uri'
import { stylesheetHash } from './pages/stylesheet'

type Headers = Readonly<Record<string, string | string[]>>

/** Sends JSON that nobody keeps. `res.json` would negotiate and compute an ETag for what is never asked for again. */
export function sendJson(response: Response, status: number, body: object, headers: Headers = {}): void {
  sendText(response, status, JSON.stringify(body), {
    'Content-Type': 'application/json; charset=utf-8',
    // RFC 6749 5.1
    'Cache-Control': 'no-store',
    Pragma: 'no-cache',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  })
}

/** Sends an error in the form of RFC 6749 5.2. */
export function sendJsonError(
  response: Response,
  status: number,
  error: ErrorText,
  errorUri: string | undefined,
  headers: Headers = {},
): void {
  sendJson(response, status, errorMembers(error, errorUri), headers)
}

/** Headers of every page to a resource owner: no one caches or frames it, and its URL goes to no other site. */
export const privatePage = {
  'Cache-Control': 'no-store',
  Pragma: 'no-cache',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

/**
 * Sends a page of the suite, which has no script. `formTargets` are the sources at which its form may end up; they
 * replace what the host's helmet allows, because browsers hold `form-action` against every redirect that follows.
 */
export function sendPage(
  response: Response,
  status: number,
  page: string,
  formTargets: readonly string[] = [],
): void {
  sendText(response, status, page, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': `default-src 'none'; style-src ${stylesheetHash}; img-src 'self' https:; ${formActionOf(formTargets)}; frame-ancestors 'none'; base-uri 'none'`,
    ...privatePage,
  })
}

/** The directive of a content security policy that lets a form end up at these sources. */
export function formActionOf(formTargets: readonly string[]): string {
  return `form-action ${formTargets.length > 0 ? ["'self'", ...formTargets].join(' ') : "'none'"}`
}

/**
 * Where the form may end up when the client is at this redirection URI. Schemes and not hosts: a client may send its
 * user on to a further host, and hosts such as `[::1]` have no source expression.
 */
export function formTargetsOf(redirectUri: string): readonly string[] {
  return [...new Set(['https:', protocolOf(redirectUri)])]
}

/** Sends the user agent on with `GET`, whatever it came with (RFC 9700 4.12). */
export function redirectTo(response: Response, location: string): void {
  response
    .writeHead(303, {
      Location: location,
      'Cache-Control': 'no-store',
      Pragma: 'no-cache',
      'Content-Length': 0,
    })
    .end()
}

/** Sends a text with these headers and its length. */
export function sendText(
  response: Response,
  status: number,
  text: string,
  headers: OutgoingHttpHeaders,
): void {
  const length = Buffer.byteLength(text)
  // What is ASCII is the same in Latin-1, which Node need not encode.
  const encoding = length === text.length ? 'latin1' : 'utf8'
  response.writeHead(status, { 'Content-Length': length, ...headers }).end(text, encoding)
}
