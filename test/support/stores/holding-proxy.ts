import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** Connections to Redis: those on which it answers, and those on which it tells of changes. */
export type Way = 'answers' | 'news'

/** A way to Redis on which what it says can be held back, while commands go through. */
export interface HoldingProxy {
  readonly url: string
  hold(way: Way): void
  /** How many pieces are held back. */
  held(way: Way): number
  /** Passes on what was held back, and all that follows. */
  release(way: Way): void
  stop(): Promise<void>
}

interface Gate {
  isClosed: boolean
  readonly held: (() => void)[]
}

export async function startHoldingProxy(port: number): Promise<HoldingProxy> {
  const gates: Record<Way, Gate> = {
    answers: { isClosed: false, held: [] },
    news: { isClosed: false, held: [] },
  }
  const server = createServer((client) => {
    const redis = connect(port, '127.0.0.1')
    let way: Way = 'answers'
    client.on('data', (words) => {
      if (words.includes('subscribe')) way = 'news'
      redis.write(words)
    })
    redis.on('data', (reply) => {
      const pass = () => void client.write(reply)
      if (gates[way].isClosed) gates[way].held.push(pass)
      else pass()
    })
    client.on('error', () => {}).on('close', () => redis.destroy())
    redis.on('error', () => {}).on('close', () => client.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.')
  return {
    url: `redis://127.0.0.1:${address.port}`,
    hold: (way) => void (gates[way].isClosed = true),
    held: (way) => gates[way].held.length,
    release: (way) => {
      gates[way].isClosed = false
      for (const pass of gates[way].held.splice(0)) pass()
    },
    stop: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}
