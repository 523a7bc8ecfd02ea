import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { isRecord } from '../../../lib/primitives/options-reader'
import { bundled } from '../../support/bundled'
import type { FuzzPlan } from './parties'
import type { Health } from './server-process'

/** The host application under fuzz, in a process of its own. */
export interface FuzzServer {
  readonly port: number
  /** Moves its clock ahead by these seconds, collects its garbage, and tells how it is. */
  health(advance?: number): Promise<Health>
  isAlive(): boolean
  stop(): Promise<void>
}

export async function startFuzzServer(plan: FuzzPlan): Promise<FuzzServer> {
  const child = fork(bundled(join(__dirname, 'server-process.ts'), 'bundled'), [JSON.stringify(plan)], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Its warnings are complaints already.
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
  const gone = once(child, 'exit')
  const answer = async (): Promise<Record<string, unknown>> => {
    const [message] = await once(child, 'message', { signal: AbortSignal.timeout(240_000) })
    if (!isRecord(message)) throw new Error('The server said nothing that can be read.')
    return message
  }
  const { port } = await Promise.race([
    answer(),
    gone.then(() => Promise.reject(new Error('The server did not start.'))),
  ])
  return {
    port: Number(port),
    isAlive: () => child.exitCode === null && child.signalCode === null,
    health: async (advance = 0) => {
      const message = answer()
      child.send({ advance })
      return healthOf(await message)
    },
    stop: async () => {
      child.kill('SIGKILL')
      await gone
    },
  }
}

function healthOf({ memory, handles, complaints }: Record<string, unknown>): Health {
  return {
    memory: Number(memory),
    handles: Number(handles),
    complaints: Array.isArray(complaints) ? complaints.map(String) : [],
  }
}
