import type { OutgoingHttpHeaders } from 'node:http'
import type { Response } from 'express'

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
