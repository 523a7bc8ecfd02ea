import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Answer, Connection } from './story'

interface Waiting {
  resolve(answer: Answer): void
  reject(error: Error): void
}

/**
 * A connection that spends as little as it can: a generator that computes for longer than the server it drives would measure
 * itself. One request at a time; an answer has a `Content-Length`, comes in chunks, or has no body.
 */
export class KeptConnection implements Connection {
  private waiting: Waiting | undefined
  private received = ''

  private constructor(private readonly stream: Duplex) {
    stream.setEncoding('latin1')
    stream.on('data', (text: string) => this.take(text))
    stream.on('error', (error) => this.fail(error))
    stream.on('close', () => this.fail(new Error('The server closed the connection.')))
  }

  static open(port: number): Promise<KeptConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new KeptConnection(socket.setNoDelay(true))))
      socket.once('error', reject)
    })
  }

  /** Over a stream that leads to a server. */
  static over(stream: Duplex): KeptConnection {
    return new KeptConnection(stream)
  }

  ask(text: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject }
      this.stream.write(text, 'latin1')
    })
  }

  close(): void {
    this.stream.removeAllListeners('close').destroy()
  }

  private take(text: string): void {
    this.received = this.received === '' ? text : this.received + text
    const end = this.received.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = this.received.slice(0, end)
    const body = bodyOf(head, this.received.slice(end + 4))
    if (body === undefined) return
    this.received = ''
    const { waiting } = this
    this.waiting = undefined
    waiting?.resolve({ status: Number(head.slice(9, 12)), head, body })
  }

  private fail(error: Error): void {
    this.waiting?.reject(error)
    this.waiting = undefined
  }
}

const lengthHeader = /\r\ncontent-length: *(\d+)/i
const chunkedHeader = /\r\ntransfer-encoding: *chunked/i

/** The whole body; undefined while a part of it is missing. */
function bodyOf(head: string, rest: string): string | undefined {
  const length = lengthHeader.exec(head)?.[1]
  if (length !== undefined) return rest.length < Number(length) ? undefined : rest
  if (chunkedHeader.test(head)) return unchunked(rest)
  return ''
}

function unchunked(rest: string): string | undefined {
  if (!rest.endsWith('0\r\n\r\n')) return undefined
  let body = ''
  let at = 0
  for (;;) {
    const line = rest.indexOf('\r\n', at)
    const size = Number.parseInt(rest.slice(at, line), 16)
    if (Number.isNaN(size)) return undefined
    if (size === 0) return body
    body += rest.slice(line + 2, line + 2 + size)
    at = line + 2 + size + 2
  }
}
