import { createServer, type RequestListener, type Server } from 'node:http'
import { listening, type Listener } from '../listening'

/** An issuer's own web server, which answers as the test tells it to. */
export class KeyServer {
  /** How often anybody asked. */
  requests = 0
  private answer: RequestListener = (_request, response) => void response.end()
  private listener: Listener | undefined
  private readonly server: Server = createServer((request, response) => {
    this.requests += 1
    this.answer(request, response)
  })

  async start(): Promise<void> {
    this.listener = await listening(this.server)
  }

  get uri(): string {
    if (this.listener === undefined) throw new Error('The key server does not listen.')
    return `http://127.0.0.1:${this.listener.port}/jwks.json`
  }

  /** From now on it publishes these keys. */
  publish(...keys: readonly object[]): void {
    this.sayJson({ keys })
  }

  sayJson(value: unknown): void {
    this.say((_request, response) => void response.end(JSON.stringify(value)))
  }

  say(answer: RequestListener): void {
    this.answer = answer
  }

  async stop(): Promise<void> {
    await this.listener?.close()
  }
}
