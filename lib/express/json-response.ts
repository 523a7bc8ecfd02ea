import type { Response } from 'express'
import { errorMembers, type ErrorText } from '../protocol/oauth-error'
import { sendText } from './send-text'

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
