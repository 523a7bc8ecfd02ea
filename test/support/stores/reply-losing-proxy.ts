import { once } from 'node:events'
import { connect, createServer } from 'node:net'

export interface ReplyLosingProxy {
  url: string
  /** From now on the connection breaks when the next reply comes: its command was carried out, and nobody learns. */
  loseNextReply(): void
  lostReplies(): number
  stop(): Promise<void>
}

export async function startReplyLosingProxy(port: number): Promise<ReplyLosingProxy> {
  let losing = false
  let lost = 0
  const server = createServer((client) => {
    const redis = connect(port, '127.0.0.1')
    client.on('data', (words) => redis.write(words))
    redis.on('data', (reply) => {
      if (!losing) return client.write(reply)
      losing = false
      lost += 1
      return client.destroy()
    })
    client.on('error', () => {}).on('close', () => redis.destroy())
    redis.on('error', () => {}).on('close', () => client.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.')
  return {
    url: `redis://127.0.0.1:${address.port}`,
    loseNextReply: () => {
      losing = true
    },
    lostReplies: () => lost,
    stop: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}
