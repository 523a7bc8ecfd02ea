import { startTarget } from '../child'
import { median } from '../figures'
import { startRedis } from '../redis'

/** Milliseconds from the start of a process until it listens. */
export interface ColdStarts {
  readonly bare: number
  readonly suite: number
}

/** Starts an Express app with ioredis, and the same with the suite, in turn. */
export async function coldStarts(times: number): Promise<ColdStarts> {
  const redis = await startRedis()
  const once = async (program: string): Promise<number> => {
    const running = await startTarget({ program }, redis.url, [])
    await running.stop()
    return running.startedIn
  }
  const bare: number[] = []
  const suite: number[] = []
  for (let time = 0; time <= times; time++) {
    const pair = [await once('express'), await once('ours')] as const
    // The first ones read files that nobody has read yet.
    if (time === 0) continue
    bare.push(pair[0])
    suite.push(pair[1])
  }
  redis.stop()
  return { bare: median(bare), suite: median(suite) }
}
