import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Request, Response } from 'express'
import type { Diagnosis } from '../audit/diagnosis'
import { type Field, group, kind, someRows } from '../primitives/schema'
import type { Extension } from '../protocol/extension'
import type { TokenType } from '../protocol/token-type'
import { isRecord, isText } from '../primitives/values'

// Not the package `cors`: it takes every OPTIONS for a preflight, and overwrites the host's headers.

/**
 * The origins whose scripts may call and read: `true` for every origin, `false` for none, or a list such as
 * `{ origins: ['https://app.example'] }`. No response ever allows cookies.
 */
export type CorsOption = boolean | CorsOrigins

export interface CorsOrigins {
  /** As a browser sends it: scheme, host and port, without a path. At least one. */
  readonly origins: readonly string[]
}

export type AllowedOrigins = '*' | ReadonlySet<string> | undefined

const originExpectation =
  'must be an origin as a browser sends it, such as https://app.example or http://localhost:5173: scheme, host and port, without a path. Every origin is cors: true.'

export const allowedOrigins =
  (fallback: AllowedOrigins): Field<AllowedOrigins> =>
  (given, at, name) => {
    if (given === undefined) return fallback
    if (given === true) return '*'
    if (isRecord(given)) return new Set(listed(given, at, name).origins)
    if (given !== false)
      at.wrong(name, "must be true, false, or an object such as { origins: ['https://app.example'] }.")
    return undefined
  }

// URL parsers know no origin for schemes of apps, such as capacitor://localhost. Every sandboxed page sends
// `null`: no list may have it. No origin is a pattern.
function isOrigin(text: unknown): text is string {
  if (!isText(text) || !URL.canParse(text)) return false
  const { protocol, host, origin } = new URL(text)
  if (host === '' || host.includes('*')) return false
  return text === (origin === 'null' ? `${protocol}//${host}` : origin)
}

const listed = group({
  origins: someRows(
    kind(isOrigin, originExpectation),
    'origin: every origin is cors: true, and none is cors: false',
  ),
})

/** True if it answered a preflight. */
export type Share = (request: Request, response: Response) => boolean

interface Sharing {
  readonly methods: string
  /** A cache gives one response to requests with and without `Origin`. */
  readonly isCacheable: boolean
  /** Default: the suite's. */
  readonly exposed?: readonly string[]
}

export const allowOrigin = 'Access-Control-Allow-Origin'

export const everyMethod = 'GET, HEAD, POST, PUT, PATCH, DELETE, *'

/** Fetch 3.3. */
export function crossOrigin(
  origins: AllowedOrigins,
  { methods, isCacheable, exposed = usualExposed }: Sharing,
): Share | undefined {
  if (origins === undefined) return undefined
  return (request, response) => {
    const { origin } = request.headers
    if (origin === undefined && origins === '*' && !isCacheable) return false
    if (!isDecided(response)) decide(response, origins, origin)
    if (isPreflight(request)) return answerPreflight(response, methods)
    if (response.hasHeader(allowOrigin)) addTo(response, 'Access-Control-Expose-Headers', exposed)
    return false
  }
}

/** Fetch 3.3.3. */
const usualExposed: readonly string[] = ['WWW-Authenticate', 'Retry-After', 'X-Request-Id']

export function exposedHeaders({
  extensions,
  tokenTypes,
}: {
  readonly extensions: readonly Extension[]
  readonly tokenTypes: readonly TokenType[]
}): readonly string[] {
  const own = [...extensions, ...tokenTypes].flatMap(({ exposedHeaders: names = [] }) => names)
  const all = [...usualExposed, ...own]
  // RFC 9110 5.1: letter case does not count.
  const folded = all.map((name) => name.toLowerCase())
  return all.filter((name, index) => folded.indexOf(name.toLowerCase()) === index)
}

// Browsers add headers of their own. `*` covers all but `Authorization`, as no request has credentials (Fetch
// 4.8).
const allowedHeaders = 'Authorization, Content-Type, *'
// Seconds, Chromium's maximum.
const maximumAge = '7200'

/** A refused origin gets `Vary: Origin` alone. */
const isDecided = (response: ServerResponse): boolean =>
  response.hasHeader(allowOrigin) || listIn(response, 'Vary').includes('origin')

function decide(
  response: ServerResponse,
  origins: Exclude<AllowedOrigins, undefined>,
  origin: string | undefined,
): void {
  if (origins === '*') {
    response.setHeader(allowOrigin, '*')
    return
  }
  // Fetch 3.3.6: a cache must know.
  addTo(response, 'Vary', ['Origin'])
  if (origin !== undefined && origins.has(origin)) response.setHeader(allowOrigin, origin)
}

/** Fetch 3.3.2. */
function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  )
}

function answerPreflight(response: ServerResponse, methods: string): true {
  const headers = {
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': allowedHeaders,
    'Access-Control-Max-Age': maximumAge,
  }
  if (response.hasHeader(allowOrigin))
    for (const [name, value] of Object.entries(headers))
      if (!response.hasHeader(name)) response.setHeader(name, value)
  response.writeHead(204).end()
  return true
}

function addTo(response: ServerResponse, name: string, values: readonly string[]): void {
  const present = listIn(response, name)
  const missing = values.filter((value) => !present.includes(value.toLowerCase()))
  if (missing.length === 0 || present.includes('*')) return
  response.setHeader(name, [...linesOf(response, name), ...missing].join(', '))
}

const listIn = (response: ServerResponse, name: string): readonly string[] =>
  linesOf(response, name)
    .flatMap((line) => line.toLowerCase().split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '')

const linesOf = (response: ServerResponse, name: string): readonly string[] =>
  [response.getHeader(name) ?? []].flat().map(String)

/** Explains what only the browser's console says (Fetch 4.10). Not in production. */
export function explainingCors(
  share: Share | undefined,
  diagnosis: Diagnosis | undefined,
  endpoint = 'protected resource',
  ownOrigin?: string,
): Share | undefined {
  if (diagnosis === undefined) return share
  return (request, response) => {
    const isAnswered = share?.(request, response) === true
    const { origin } = request.headers
    if (origin === undefined || isOwn(request, origin, ownOrigin) || response.hasHeader(allowOrigin))
      return isAnswered
    const observed =
      ownOrigin === undefined ? { cause: 'guard', origin } : { origin, 'origin of the issuer': ownOrigin }
    diagnosis.explain({ endpoint, code: undefined, reason: 'origin_not_allowed', observed })
    return isAnswered
  }
}

// A guard does not know its API's origin, and browsers send `Origin` there, too (Fetch 3.1).
const isOwn = ({ headers }: Request, origin: string, ownOrigin: string | undefined): boolean =>
  ownOrigin === undefined
    ? headers['sec-fetch-site'] === 'same-origin' ||
      (URL.canParse(origin) && new URL(origin).host === headers.host)
    : origin === ownOrigin
