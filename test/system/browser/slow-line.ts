import { request as send, type IncomingMessage, type RequestListener } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { startServer, type StartedServer } from '../../support/start-server'

/**
 * A line to servers that takes so many milliseconds for each request, half of them on the way there and half on the way
 * back; each request goes to the next server.
 *
 * @param latency those milliseconds, asked anew for each request
 */
export function startSlowLine(origins: readonly string[], latency: () => number): Promise<StartedServer> {
  let count = 0
  const listener: RequestListener = (request, response) => {
    const relay = async (): Promise<void> => {
      const body = await bytesOf(request)
      const half = latency() / 2
      await setTimeout(half)
      const { method, headers, url = '/' } = request
      const target = new URL(url, origins[count++ % origins.length])
      const reply = await new Promise<IncomingMessage>((resolve, reject) => {
        send(target, { method, headers, signal: AbortSignal.timeout(120_000) }, resolve)
          .on('error', reject)
          .end(body)
      })
      const answer = await bytesOf(reply)
      await setTimeout(half)
      response.writeHead(reply.statusCode ?? 502, reply.headers).end(answer)
    }
    relay().catch(() => response.destroy())
  }
  return startServer(listener)
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk)
  return Buffer.concat(chunks)
}
