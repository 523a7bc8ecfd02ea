import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { Request, Response } from 'express'
import { Wait } from '../primitives/clock'
import { type Eventual, following } from '../primitives/concurrency'
import { isRecord } from '../primitives/values'
import type { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { isShallow } from '../protocol/json'
import { Parameters } from '../protocol/parameters'
import { privateState } from '../primitives/private-state'
import type { ClientCertificate, ResourceRequest } from '../protocol/token-type'

export const bytesAtMost = 64 * 1024
export const shortBytes = 16 * 1024
const formType = /^application\/x-www-form-urlencoded *(?:; *charset="?utf-8"? *)?$/i
const jsonType = /^application\/json *(?:; *charset="?utf-8"? *)?$/i

const forms = privateState<Request, Eventual<Parameters>>()

/** RFC 6749 3.2 and appendix B. Reads the body once. */
export function formOf(request: Request, seconds: number): Eventual<Parameters> {
  const known = forms.get(request)
  if (known !== undefined) return known
  const form = readForm(request, seconds)
  forms.set(request, form)
  return form
}

export function hasLongBody(request: Request): boolean {
  if (request.readableDidRead || request.readableEnded) return false
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  return length === undefined ? coding !== undefined : Number(length) > shortBytes
}

export const leavesBody = ({ reason }: OAuthError): boolean =>
  reason === 'body_too_large' || reason === 'body_too_slow'

const readForm = (request: Request, seconds: number): Eventual<Parameters> =>
  lacksBody(request) ? Parameters.none : following(readBody(request, formType, 'body_type', seconds), formIn)

function formIn(body: unknown): Parameters {
  const form = decoded(body)
  if (typeof form === 'string') return Parameters.parse(form)
  if (form === undefined || isRecord(form)) return fieldsIn(form)
  throw nothingLeft()
}

// RFC 9112 6.3. An endpoint names the parameter that it misses.
function lacksBody(request: Request): boolean {
  const { 'content-length': length = 0, 'transfer-encoding': coding } = request.headers
  return Number(length) === 0 && coding === undefined && headerLines(request, 'content-type').length === 0
}

export async function jsonOf(request: Request, seconds: number): Promise<unknown> {
  const body = decoded(await readBody(request, jsonType, 'body_type/json', seconds)) ?? ''
  const json = typeof body === 'string' ? parseJson(body) : body
  if (!isShallow(json)) throw refused('body_too_deep')
  return json
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // No cause: the parser's message contains a part of the body.
    throw refused('body_malformed')
  }
}

export const hasJson = (request: Request): boolean => isOfType(request, jsonType)

/** False for two headers: another program may read the second. */
function isOfType(request: Request, type: RegExp): boolean {
  const given = headerLines(request, 'content-type')
  return given.length === 1 && type.test(given[0]?.trim() ?? '')
}

/** A navigating browser accepts HTML; without `Accept`, a request accepts everything. */
export const wantsJson = (request: Request): boolean =>
  hasJson(request) || (request.accepts('html') === false && request.accepts('json') !== false)

export const fieldsIn = (json: unknown): Parameters =>
  isRecord(json) ? Parameters.fromParsedBody(json) : Parameters.none

function readBody(
  request: Request,
  type: RegExp,
  anotherType: 'body_type' | 'body_type/json',
  seconds: number,
): unknown {
  if (!isOfType(request, type)) throw refused(anotherType)
  if (hasUnreadBody(request)) return bodyAtOnce(request) ?? readStream(request, seconds)
  const { body }: { readonly body?: unknown } = request
  if (body === undefined && request.readableDidRead) throw nothingLeft()
  return body
}

function hasUnreadBody(request: Request): boolean {
  const { 'content-encoding': encoding, 'content-length': length } = request.headers
  if (Number(length) > bytesAtMost) throw tooLarge()
  // `readableDidRead` stays false for an empty body, which only ends.
  if (request.readableDidRead || request.readableEnded) return false
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw refused('body_encoding/compressed')
  if (request.readableEncoding !== null)
    throw new Error(
      'Another middleware set an encoding on the request: mount the authorization server before that middleware.',
    )
  return true
}

/** A body of the same packet follows before the next microtask. */
export const bodyMayCome = Promise.resolve()

function bodyAtOnce(request: Request): Buffer | undefined {
  if (request.readableLength !== Number(request.headers['content-length'])) return undefined
  const bytes: unknown = request.read()
  return Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0)
}

const nothingLeft = () =>
  new Error(
    'Another middleware read the request body and left nothing in request.body: mount the authorization server before that middleware.',
  )

function readStream(request: Request, seconds: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const collect = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= bytesAtMost) chunks.push(chunk)
      else giveUp(tooLarge())
    }
    const complete = () => {
      letGo()
      resolve(chunks[0] !== undefined && chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
    }
    const abort = () => {
      letGo()
      reject(refused('body_aborted'))
    }
    const giveUp = (refusal: Error) => {
      letGo()
      request.pause()
      reject(refusal)
    }
    // For the whole body: a client that sends a byte now and then is never idle.
    const waiting = new Wait(seconds, tooSlow, giveUp)
    const letGo = () => {
      waiting.end()
      request.off('data', collect).off('end', complete).off('error', abort).off('close', abort)
    }
    request.on('data', collect).on('end', complete).on('error', abort).on('close', abort)
  })
}

const tooSlow = () => refused('body_too_slow')
const tooLarge = () => refused('body_too_large')

function decoded(body: unknown): unknown {
  if (!Buffer.isBuffer(body)) return body
  if (!isUtf8(body)) throw refused('body_encoding')
  return body.toString()
}

export const authorizationOf = (request: Request): readonly string[] => headerLines(request, 'authorization')

function certificateOf({ socket }: Request): ClientCertificate | undefined {
  if (!(socket instanceof TLSSocket)) return undefined
  const x509 = socket.getPeerX509Certificate()
  return x509 && { x509, trusted: socket.authorized }
}

/** Not Express' query: a host's parser may have nested or dropped parameters. */
export function queryOf({ url = '' }: IncomingMessage): Parameters {
  const question = url.indexOf('?')
  return question < 0 ? Parameters.none : Parameters.parse(url.slice(question + 1))
}

/**
 * Node's `headers` keeps only the first of two lines; `headersDistinct` parses all others, too. Adapters of
 * functions have only `headers`.
 */
function headerLines(
  { rawHeaders = [], headers }: Partial<Pick<IncomingMessage, 'rawHeaders' | 'headers'>>,
  name: string,
): readonly string[] {
  if (rawHeaders.length === 0) return [headers?.[name] ?? []].flat()
  let lines: readonly string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const written = rawHeaders[at] ?? ''
    if (written === name || (written.length === name.length && written.toLowerCase() === name))
      lines = lines.concat(rawHeaders[at + 1] ?? '')
  }
  return lines
}

export class HttpRequest implements ResourceRequest {
  constructor(
    readonly request: Request,
    public response: Response,
  ) {}

  get authorization(): readonly string[] {
    return authorizationOf(this.request)
  }

  setHeader(name: string, value: string): void {
    this.response.setHeader(name, value)
  }

  get address(): string | undefined {
    return this.request.ip
  }

  get method(): string {
    return this.request.method
  }

  get target(): string {
    return this.request.originalUrl
  }

  get headers(): ResourceRequest['headers'] {
    // `headersDistinct` of Node needs raw headers.
    const names = Object.keys(this.request.headers)
    return Object.fromEntries(names.map((name) => [name, headerLines(this.request, name)]))
  }

  get secure(): boolean {
    return this.request.secure
  }

  get certificate(): ClientCertificate | undefined {
    return certificateOf(this.request)
  }
}
