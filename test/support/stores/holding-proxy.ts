import { startRedisProxy } from './redis-proxy'

/** Connections to Redis: those on which it answers, and those on which it tells of changes. */
type Way = 'answers' | 'news'

interface Gate {
  isClosed: boolean
  readonly held: (() => void)[]
}

export async function startHoldingProxy(port: number) {
  const gates: Record<Way, Gate> = {
    answers: { isClosed: false, held: [] },
    news: { isClosed: false, held: [] },
  }
  const proxy = await startRedisProxy(port, () => {
    let way: Way = 'answers'
    return {
      sent: (words) => {
        if (words.includes('subscribe')) way = 'news'
      },
      replied: (pass) => {
        if (gates[way].isClosed) gates[way].held.push(pass)
        else pass()
      },
    }
  })
  return {
    ...proxy,
    hold: (way: Way) => void (gates[way].isClosed = true),
    /** How many pieces are held back. */
    held: (way: Way) => gates[way].held.length,
    /** Passes on what was held back, and all that follows. */
    release: (way: Way) => {
      gates[way].isClosed = false
      for (const pass of gates[way].held.splice(0)) pass()
    },
  }
}

/** A way to Redis on which what it says can be held back, while commands go through. */
export type HoldingProxy = Awaited<ReturnType<typeof startHoldingProxy>>
