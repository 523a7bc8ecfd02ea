import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { bundled } from '../bundled'
import { outputOf } from '../program-output'
import type { McpServerPlan } from './mcp-process'

export async function startMcpServer(plan: McpServerPlan) {
  const program = bundled(join(__dirname, 'mcp-process.ts'))
  const child = spawn(process.execPath, [program, JSON.stringify(plan)], { stdio: 'pipe' })
  const output = outputOf(child, 'The MCP server')
  const [, url = ''] = await output.until(/^url (\S+)\n/m)
  return {
    /** The URL of the MCP server, which is the resource. */
    url,
    stop: async () => {
      child.kill()
      await output.ended()
    },
  }
}

/** An MCP server in a process of its own. */
export type McpServerProcess = Awaited<ReturnType<typeof startMcpServer>>
