import { request as send, createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { listening } from '../listening'

/** An answer as it came over the wire. */
export interface RawResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface RawRequest {
  readonly method: string
  readonly path: string
  /** Name, value, name, value: as the wire has them, repeated ones too. */
  readonly headers: readonly string[]
  readonly body?: string | Buffer
}

// Milliseconds. It bounds what hangs, and not how fast a machine under load is.
const patience = 60_000

/** Sends a request as it is, which supertest would make tidier. An answer that never comes is an error. */
export async function rawRequest(app: RequestListener, request: RawRequest): Promise<RawResponse> {
  const { port, close } = await listening(createServer(app))
  try {
    return await exchange(port, request)
  } finally {
    await close()
  }
}

function exchange(port: number, { method, path, headers, body = '' }: RawRequest): Promise<RawResponse> {
  const framing = headers.includes('Transfer-Encoding')
    ? []
    : ['Content-Length', String(Buffer.byteLength(body))]
  const always = ['Host', `127.0.0.1:${port}`, ...framing]
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(patience)
    const outgoing = send({ port, method, path, signal, headers: [...always, ...headers] }, (incoming) => {
      let text = ''
      incoming.setEncoding('utf8')
      incoming.on('data', (chunk: string) => (text += chunk))
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }))
      incoming.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
