import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestPlainly,
} from 'node:http'
import { request as requestSecurely, type RequestOptions } from 'node:https'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import { isRecord } from '../../primitives/values'
import { isShallow } from '../../protocol/json'
import { DocumentUnavailable } from './document-unavailable'
import type { Target } from './target-address'

export interface FetchedDocument {
  /** Several callers share this value: do not change it. */
  readonly json: unknown
  /** Seconds for which the document may be cached, 60 to 86 400. */
  readonly maximumAge: number
}

export async function requestDocument(requested: GuardedRequest): Promise<FetchedDocument> {
  try {
    const response = await responseTo(requested, {
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
    })
    try {
      requireJson(response, requested.maximumSize)
      const body = await bodyOf(response, requested.maximumSize)
      return { json: readJson(body), maximumAge: maximumAgeOf(response.headers) }
    } finally {
      response.destroy()
    }
  } catch (error) {
    throw requestFailure(error)
  }
}

const jsonType = /^application\/(?:[\w!#$&^.-]+\+)?json[ \t]*(?:;|$)/i

function requireJson({ statusCode, headers }: IncomingMessage, maximumSize: number): void {
  // A redirect leads to what the client has not named.
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

// RFC 8259: no byte order mark. `__proto__` could give a copy another prototype.
function readJson(bytes: Uint8Array): unknown {
  try {
    // Keeps a byte order mark, so JSON.parse refuses it.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const json = JSON.parse(text, (name, value: unknown) => (name === '__proto__' ? undefined : value))
    if (isShallow(json)) return json
  } catch (error) {
    throw new DocumentUnavailable('malformed', error)
  }
  throw new DocumentUnavailable('malformed')
}

// Seconds.
export const [shortestAge, longestAge] = [60, 86_400]

// RFC 9111 4.2.1, in seconds
function maximumAgeOf(headers: IncomingHttpHeaders): number {
  const directives = directivesIn(headers['cache-control'] ?? '')
  // RFC 9111 4.1: `Vary: *` fits no other request.
  const varies = (headers.vary ?? '').split(',').some((name) => name.trim() === '*')
  if (varies || ['no-store', 'no-cache', 'private'].some((name) => directives.has(name))) return shortestAge
  const lifetime =
    directives.get('s-maxage') ??
    directives.get('max-age') ??
    secondsUntilExpiry(headers['expires'], headers.date)
  const age = secondsIn(headers.age) ?? 0
  return Math.max(shortestAge, Math.min(longestAge, lifetime - age))
}

// 0 for a directive without seconds. Quoted text may hold commas.
function directivesIn(cacheControl: string): ReadonlyMap<string, number> {
  const directives = new Map<string, number>()
  for (const [, name = '', quoted, bare] of cacheControl.matchAll(/([\w-]+)(?:="([^"]*)"|=([^\s,"]*))?/g)) {
    const seconds = secondsIn(quoted ?? bare) ?? 0
    // RFC 9111 4.2.1: of a repeated directive, the shorter time.
    const key = name.toLowerCase()
    directives.set(key, Math.min(seconds, directives.get(key) ?? seconds))
  }
  return directives
}

const secondsIn = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined

// RFC 9111 4.2.1: by the clock of the host. 5.3: an unreadable date is in the past.
function secondsUntilExpiry(expires: string | undefined, date: string | undefined): number {
  const seconds = Math.floor((parseDate(expires) - parseDate(date)) / 1000)
  return Number.isNaN(seconds) ? 0 : seconds
}

// Date.parse alone reads the customary `Expires: 0` as the year 2000.
const parseDate = (text = ''): number => (text.endsWith(' GMT') ? Date.parse(text) : Number.NaN)

interface GuardedRequest {
  readonly target: Target
  readonly addresses: readonly string[]
  readonly maximumSize: number
  readonly ca: RequestOptions['ca']
  readonly signal: AbortSignal
}

export const maximumHeaderSize = 8192

// Follows no redirect.
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
      // For this name alone, never through a proxy.
      agent: false,
      // A second look-up could answer otherwise.
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
    // The body does not show informational responses, chunk extensions and trailers.
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
      // The parser reports too long trailers here; the response would say "aborted".
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
