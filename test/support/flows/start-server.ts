import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Flow } from './flow'
import type { ServerPlan } from './server-process'

/** The host application in a process of its own. */
export interface ServerProcess {
  readonly flow: Flow
  readonly origin: string
  /** Kills it in the middle of whatever it does. */
  kill(): Promise<void>
}

export async function startServer(plan: ServerPlan): Promise<ServerProcess> {
  const words = ['-r', 'esbuild-register', join(__dirname, 'server-process.ts'), JSON.stringify(plan)]
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'pipe'] })
  const gone = once(child, 'exit')
  const port = await new Promise<string>((resolve, reject) => {
    let output = ''
    const read = (chunk: Buffer): void => {
      output += chunk.toString()
      const [, told] = /^port (\d+)$/m.exec(output) ?? []
      if (told !== undefined) resolve(told)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`The server did not start:\n${output}`)))
  })
  const origin = `http://127.0.0.1:${port}`
  return {
    flow: new Flow(origin),
    origin,
    kill: async () => {
      child.kill('SIGKILL')
      await gone
    },
  }
}
