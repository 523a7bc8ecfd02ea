import { connect, createServer, type Socket } from 'node:net'
import { listening } from '../listening'

/** What becomes of what is said on one connection; what is left out passes. */
export interface Between {
  /** With what a client sends. */
  readonly sent?: (words: Buffer) => void
  /** Whether what a client sends does not arrive now: `pass` hands it on, and may be called later or never. */
  readonly holds?: (words: Buffer, pass: () => void) => boolean
  /** With what Redis replies: `pass` hands it on, and may be called later. */
  readonly replied?: (pass: () => void, client: Socket) => void
}

export async function startRedisProxy(port: number, between: () => Between) {
  const server = createServer((client) => {
    const redis = connect(port, '127.0.0.1')
    const { sent, holds, replied } = between()
    client.on('data', (words) => {
      sent?.(words)
      const pass = () => void redis.write(words)
      if (holds?.(words, pass) !== true) pass()
    })
    redis.on('data', (reply) => {
      const pass = () => void client.write(reply)
      if (replied === undefined) pass()
      else replied(pass, client)
    })
    client.on('error', () => {}).on('close', () => redis.destroy())
    redis.on('error', () => {}).on('close', () => client.destroy())
  })
  const { port: own, close } = await listening(server)
  return { url: `redis://127.0.0.1:${own}`, stop: close }
}

/** A way to Redis that a test stands in. */
export type RedisProxy = Awaited<ReturnType<typeof startRedisProxy>>
