import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request, type RequestOptions } from 'node:https'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import { isRecord } from '../protocol/configuration'
import { DocumentUnavailable } from './document-unavailable'
import type { Target } from './target'

/** The part of a response that matters. */
export interface DocumentResponse {
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
}

/** How a document is requested. */
export interface DocumentRequest {
  readonly target: Target
  /** The addresses that the connection may go to. */
  readonly addresses: readonly string[]
  /** The most bytes of the body. */
  readonly maximumSize: number
  readonly ca: RequestOptions['ca']
  /** Ends the request and its connection. */
  readonly signal: AbortSignal
}

const maximumHeaderSize = 8192

/**
 * Requests a document on a connection of its own, which ends with the response. The certificate must be the one of the
 * name; the address must be one of those that were checked.
 *
 * @throws DocumentUnavailable unless the response is one with status 200, a JSON type, no encoding, and no more bytes
 * than allowed.
 */
export async function requestDocument(requested: DocumentRequest): Promise<DocumentResponse> {
  try {
    const response = await responseTo(requested)
    try {
      requireJson(response, requested.maximumSize)
      return { headers: response.headers, body: await bodyOf(response, requested.maximumSize) }
    } finally {
      response.destroy()
    }
  } catch (error) {
    if (error instanceof DocumentUnavailable) throw error
    throw new DocumentUnavailable(isHeaderOverflow(error) ? 'size' : 'connection', error)
  }
}

function responseTo({
  target,
  addresses,
  maximumSize,
  ca,
  signal,
}: DocumentRequest): Promise<IncomingMessage> {
  const { hostname, port, host, path } = target
  return new Promise((resolve, reject) => {
    const sent = request({
      host: hostname,
      port,
      path,
      headers: { Host: host, Accept: 'application/json', 'Accept-Encoding': 'identity' },
      // A connection of its own: none that was made for another name, and none by way of a proxy.
      agent: false,
      // No second look-up, whose answer could be another one. Node asks for none if the host is an address.
      lookup: answerWith(addresses),
      // RFC 6066 3: an address is not a server name.
      ...(isIP(hostname) === 0 && { servername: hostname }),
      ...(ca !== undefined && { ca }),
      // NODE_TLS_REJECT_UNAUTHORIZED=0 and --insecure-http-parser do not count here.
      rejectUnauthorized: true,
      insecureHTTPParser: false,
      maxHeaderSize: maximumHeaderSize,
      signal,
    })
    let received: IncomingMessage | undefined
    // The socket counts what the body does not show: informational responses, chunk extensions, trailers.
    sent.once('socket', (socket) => {
      let size = 0
      socket.on('data', (bytes: Buffer) => {
        size += bytes.length
        if (size > maximumHeaderSize + 2 * maximumSize)
          (received ?? sent).destroy(new DocumentUnavailable('size'))
      })
    })
    sent.once('response', (response) => {
      received = response
      resolve(response)
    })
    sent.on('error', reject)
    sent.once('close', () => reject(new Error('The connection ended without a response.')))
    sent.end()
  })
}

const answerWith =
  (addresses: readonly string[]): LookupFunction =>
  (_hostname, { all }, answer) => {
    const answers = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
    const [first] = answers
    if (all === true || first === undefined) answer(null, answers)
    else answer(null, first.address, first.family)
  }

const jsonType = /^application\/(?:[\w!#$&^.-]+\+)?json[ \t]*(?:;|$)/i

function requireJson({ statusCode, headers }: IncomingMessage, maximumSize: number): void {
  // No redirect is followed: its destination is not what the client has named.
  if (statusCode !== 200) throw new DocumentUnavailable('status')
  if (!jsonType.test(headers['content-type'] ?? '')) throw new DocumentUnavailable('type')
  if (headers['content-encoding'] !== undefined || (headers['transfer-encoding'] ?? 'chunked') !== 'chunked')
    throw new DocumentUnavailable('encoding')
  if (Number(headers['content-length'] ?? 0) > maximumSize) throw new DocumentUnavailable('size')
}

async function bodyOf(response: IncomingMessage, maximumSize: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > maximumSize) throw new DocumentUnavailable('size')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const isHeaderOverflow = (error: unknown): boolean =>
  isRecord(error) && error['code'] === 'HPE_HEADER_OVERFLOW'
