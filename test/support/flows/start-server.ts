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
  /** Whether it lives, as far as is known. */
  isAlive(): boolean
  /** All that it wrote beside its answers, such as why it crashed. */
  output(): string
  /** Stops it, or lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Sets its clock ahead of the machine's by so many seconds, or behind. */
  setAhead(seconds: number): void
  /** Collects its garbage and tells its memory; rejects when its event loop does not answer. */
  memory(): Promise<Memory>
  /** Kills it in the middle of whatever it does. */
  kill(): Promise<void>
}

export async function startServer(plan: ServerPlan): Promise<ServerProcess> {
  const { child, url, isAlive, output, kill } = await startProgram(join(__dirname, 'server-process.ts'), plan)
  return {
    flow: new Flow(url),
    url,
    isAlive,
    output,
    signal: (signal) => void child.kill(signal),
    setAhead: (seconds) => void child.stdin.write(`ahead ${seconds}\n`),
    memory: async () => {
      child.stdin.write('memory\n')
      const [printed] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(120_000) })
      return JSON.parse(String(printed))
    },
    kill,
  }
}
