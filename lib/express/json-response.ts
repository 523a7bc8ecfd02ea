import type { Response } from 'express'
import { errorMembers, type ErrorText } from '../protocol/oauth-error'

type Headers = Readonly<Record<string, string | string[]>>

const always = {
  'Content-Type': 'application/json; charset=utf-8',
  // RFC 6749 5.1
  'Cache-Control': 'no-store',
  Pragma: 'no-cache',
  'X-Content-Type-Options': 'nosniff',
}

/** Sends JSON that nobody keeps. `res.json` would negotiate and compute an ETag for what is never asked for again. */
export function sendJson(response: Response, status: number, body: object, headers: Headers = {}): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'Content-Length': Buffer.byteLength(text), ...always, ...headers }).end(text)
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
