import { once } from 'node:events'
import { join } from 'node:path'
import { startProgram } from '../start-program'
import { nodeFor } from '../store-plan'
import { Flow } from './flow'
import type { ServerPlan } from './server-process'

/** In bytes. */
interface Memory {
  readonly rss: number
  readonly heapUsed: number
}

export async function startServer(plan: ServerPlan) {
  const module = join(__dirname, 'server-process.ts')
  const { child, url, kill } = await startProgram(module, plan, nodeFor(plan.store))
  return {
    flow: new Flow(url),
    url,
    /** Collects its garbage and tells its memory; rejects when its event loop does not answer. */
    memory: async (): Promise<Memory> => {
      child.stdin.write('memory\n')
      const [printed] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(120_000) })
      return JSON.parse(String(printed))
    },
    /** Kills it in the middle of whatever it does. */
    kill,
  }
}

/** The host application in a process of its own. */
export type ServerProcess = Awaited<ReturnType<typeof startServer>>
