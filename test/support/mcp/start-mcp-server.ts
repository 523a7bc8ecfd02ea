import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bundled } from '../bundled'
import type { McpServerPlan } from './mcp-process'

/** An MCP server in a process of its own. */
export interface McpServerProcess {
  /** The URL of the MCP server, which is the resource. */
  readonly url: string
  stop(): Promise<void>
}

export async function startMcpServer(plan: McpServerPlan): Promise<McpServerProcess> {
  const program = bundled(join(__dirname, 'mcp-process.ts'))
  const child = spawn(process.execPath, [program, JSON.stringify(plan)], { stdio: 'pipe' })
  const gone = once(child, 'exit')
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    const read = (chunk: Buffer): void => {
      output += chunk.toString()
      const [, printed] = /^url (\S+)\n/m.exec(output) ?? []
      if (printed !== undefined) resolve(printed)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`The MCP server did not start:\n${output}`)))
  })
  return {
    url,
    stop: async () => {
      child.kill()
      await gone
    },
  }
}
