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

// Past this a request counts as never answered; far above every bound, so that how late it was is still seen.
const usualPatience = 15_000

/** Connections to one server that stay open from request to request. */
export class Exchange {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 64 })

  /** @param patience milliseconds after which a request counts as never answered. */
  constructor(
    private url: string,
    private readonly patience = usualPatience,
  ) {}

  /** From now on requests go to this server. */
  moveTo(url: string): void {
    this.url = url
  }

  send({ method, path, headers = {}, body = '' }: Message): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const options = {
        method,
        agent: this.agent,
        timeout: this.patience,
        headers: { ...bodyHeaders(body), ...headers },
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

function bodyHeaders(body: string): Record<string, string> {
  if (body === '') return {}
  return {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': String(Buffer.byteLength(body)),
  }
}
