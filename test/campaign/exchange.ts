import { Agent, request, type IncomingHttpHeaders } from 'node:http'

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface Message {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

// Milliseconds. Far above everything that a run lasts: what is late is not judged, and what hangs is.
const patience = 120_000

/** Connections to one server that stay open from request to request, so that those who race start together. */
export class Exchange {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 64 })

  constructor(private url: string) {}

  /** From now on requests go to this server. */
  moveTo(url: string): void {
    this.url = url
  }

  send({ method, path, headers = {}, body = '' }: Message): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const form = body === '' ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }
      const options = {
        method,
        agent: this.agent,
        timeout: patience,
        headers: { ...form, 'Content-Length': String(Buffer.byteLength(body)), ...headers },
      }
      const sent = request(this.url + path, options, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.once('error', reject)
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        )
      })
      sent.once('error', reject)
      sent.once('timeout', () => sent.destroy(new Error('No answer came.')))
      sent.end(body)
    })
  }

  close(): void {
    this.agent.destroy()
  }
}
