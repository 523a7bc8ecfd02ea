import { request as send, createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { connect } from 'node:net'
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

/** The statuses of so many equal requests, all sent at once over one connection: for hundreds, the way that costs least. */
export async function manyTimes(
  app: RequestListener,
  { method, path, headers, body = '' }: RawRequest,
  times: number,
): Promise<number[]> {
  const { port, close } = await listening(createServer(app))
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${headers[at + 1]}`] : []))
  const start = [`${method} ${path} HTTP/1.1`, 'Host: localhost', `Content-Length: ${body.length}`, ...lines]
  const text = (...more: readonly string[]) => `${[...start, ...more].join('\r\n')}\r\n\r\n${String(body)}`
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  socket.write(text().repeat(times - 1) + text('Connection: close'), 'latin1')
  let heard = ''
  for await (const chunk of socket) heard += String(chunk)
  await close()
  return [...heard.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
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
