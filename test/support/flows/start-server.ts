import { join } from 'node:path'
import { startProgram } from '../start-program'
import { nodeFor } from '../store-plan'
import { Flow } from './flow'
import type { ServerPlan } from './server-process'

export async function startServer(plan: ServerPlan) {
  const module = join(__dirname, 'server-process.ts')
  const { url, kill } = await startProgram(module, plan, nodeFor(plan.store))
  return {
    flow: new Flow(url),
    url,
    /** Kills it in the middle of whatever it does. */
    kill,
  }
}

/** The host application in a process of its own. */
export type ServerProcess = Awaited<ReturnType<typeof startServer>>
