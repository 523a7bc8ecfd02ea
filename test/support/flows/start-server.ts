import { once } from 'node:events'
import { join } from 'node:path'
import { startProgram } from '../start-program'
import { Flow } from './flow'
import type { ServerPlan } from './server-process'

/** In bytes. */
export interface Memory {
  readonly rss: number
  readonly heapUsed: number
}

/** The host application in a process of its own. */
export interface ServerProcess {
  readonly flow: Flow
  readonly url: string
  /** Collects its garbage and tells its memory; rejects when its event loop does not answer. */
  memory(): Promise<Memory>
  /** Kills it in the middle of whatever it does. */
  kill(): Promise<void>
}

export async function startServer(plan: ServerPlan): Promise<ServerProcess> {
  const { child, url, kill } = await startProgram(join(__dirname, 'server-process.ts'), plan)
  return {
    flow: new Flow(url),
    url,
    memory: async () => {
      child.stdin.write('memory\n')
      const [printed] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(120_000) })
      return JSON.parse(String(printed))
    },
    kill,
  }
}
