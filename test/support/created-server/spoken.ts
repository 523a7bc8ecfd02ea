import type { Server } from 'node:http'
import { connect } from 'node:net'
import { listening } from '../listening'

const patience = 60_000

/** Lets a server listen at a free port while something is done with it. */
export async function whileListening<Result>(
  server: Server,
  act: (port: number) => Promise<Result>,
): Promise<Result> {
  const { port, close } = await listening(server)
  try {
    return await act(port)
  } finally {
    await close()
  }
}

/** What comes back over one connection until it is closed, as the wire has it, but for the time of day. */
export function spoken(port: number, ...words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const timer = setTimeout(() => socket.destroy(new Error('The connection stays open.')), patience)
    const [first = '', ...later] = words
    let recorded = ''
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      recorded += text
      const next = later.shift()
      if (next !== undefined) socket.write(next)
    })
    socket.on('error', reject)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(recorded.replaceAll(/^Date: .*\r\n/gm, ''))
    })
    socket.write(first)
  })
}

/** A request as text. */
export function said(method: string, path: string, headers: readonly string[] = [], body = ''): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: photos.example', ...headers, '', body].join('\r\n')
}

/** The last request of its connection, with a body of known length. */
export function lastSaid(method: string, path: string, headers: readonly string[] = [], body = ''): string {
  const framing = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  return said(method, path, ['Connection: close', ...framing, ...headers], body)
}
