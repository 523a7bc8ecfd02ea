import { Agent, request, type IncomingHttpHeaders } from 'node:http'

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** A request as it goes out. */
export interface Outgoing {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** HTTP over connections that stay open, so that thousands of rounds are quick and the clients of a race start together. */
export class Connections {
  // Node's servers close what was idle for 5 s: used in turn, and given up before, none is closed under a request.
  private readonly agent = new Agent({ keepAlive: true, scheduling: 'fifo', timeout: 3000 })

  ask(origin: string, { method, path, headers, body }: Outgoing): Promise<Reply> {
    // A server that does not answer is an error; a machine under load is slower than no server.
    const signal = AbortSignal.timeout(120_000)
    return new Promise((resolve, reject) => {
      const sent = request(`${origin}${path}`, { method, headers, signal, agent: this.agent }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        response.once('error', reject)
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        )
      })
      sent.once('error', reject)
      sent.end(body)
    })
  }

  close(): void {
    this.agent.destroy()
  }
}
