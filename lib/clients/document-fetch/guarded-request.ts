import { type IncomingMessage, type OutgoingHttpHeaders, request as requestPlainly } from 'node:http'
import { request as requestSecurely, type RequestOptions } from 'node:https'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import { isRecord } from '../../primitives/values'
import { DocumentUnavailable } from './document-unavailable'
import type { Target } from './target-address'

export interface GuardedRequest {
  readonly target: Target
  readonly addresses: readonly string[]
  /** Bytes of the response body. */
  readonly maximumSize: number
  readonly ca: RequestOptions['ca']
  readonly signal: AbortSignal
}

const maximumHeaderSize = 8192

/** The certificate must be that of the name. Follows no redirect. */
export function responseTo(
  { target, addresses, maximumSize, ca, signal }: GuardedRequest,
  headers: OutgoingHttpHeaders,
  form?: string,
): Promise<IncomingMessage> {
  const { hostname, port, host, path, isPlain } = target
  return new Promise((resolve, reject) => {
    const sent = (isPlain ? requestPlainly : requestSecurely)({
      host: hostname,
      port,
      path,
      method: form === undefined ? 'GET' : 'POST',
      headers: { Host: host, ...headers },
      // A connection of its own: none made for another name, and none through a proxy.
      agent: false,
      // No second look-up, which could answer otherwise. Node looks up no address.
      lookup: answerWith(addresses),
      // RFC 6066 3: an address is not a server name.
      ...(isIP(hostname) === 0 && { servername: hostname }),
      ...(ca !== undefined && { ca }),
      // Overrides NODE_TLS_REJECT_UNAUTHORIZED=0 and --insecure-http-parser.
      rejectUnauthorized: true,
      insecureHTTPParser: false,
      maxHeaderSize: maximumHeaderSize,
      signal,
    })
    let received: IncomingMessage | undefined
    // The body does not show informational responses, chunk extensions and trailers; the socket does.
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
    sent.on('error', (error) => {
      reject(error)
      // After the head, the parser reports too long trailers here. The response alone would say "aborted".
      received?.destroy(error)
    })
    sent.once('close', () => reject(new Error('The connection ended without a response.')))
    sent.end(form)
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

export function requestFailure(error: unknown): DocumentUnavailable {
  if (error instanceof DocumentUnavailable) return error
  const isHeaderOverflow = isRecord(error) && error['code'] === 'HPE_HEADER_OVERFLOW'
  return new DocumentUnavailable(isHeaderOverflow ? 'size' : 'connection', error)
}
