import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { bundled } from '../bundled'
import { outputOf } from '../program-output'
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
  const output = outputOf(child, 'The MCP server')
  const [, url = ''] = await output.until(/^url (\S+)\n/m)
  return {
    url,
    stop: async () => {
      child.kill()
      await output.ended()
    },
  }
}
