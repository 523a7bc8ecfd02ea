import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { requireNode } from '../../support/nodes'
import { within } from '../../support/wait-until'
import { decide } from '../../support/mcp/owner'

/** What the conformance tool of MCP is told. */
export interface ConformancePlan {
  /** The issuer of the authorization server. */
  readonly url: string
  readonly clientId: string
  readonly clientSecret?: string
  readonly resource?: string
  /** Where it waits for the redirection: `http://127.0.0.1:<port>/callback`. */
  readonly port: number
}

/** One check, as the tool writes it. */
export interface Check {
  readonly id: string
  /** `SUCCESS`, `FAILURE`, `WARNING`, `SKIPPED` or `INFO`. */
  readonly status: string
  readonly errorMessage?: string
}

/** Runs every scenario for authorization servers. An owner approves what the tool asks for. */
export async function runConformanceTool(plan: ConformancePlan): Promise<readonly Check[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-conformance-'))
  const tool = require.resolve('@modelcontextprotocol/conformance/dist/index.js')
  const words = [tool, 'authorization', ...optionsOf(plan), '--output-dir', folder]
  const child = spawn(requireNode(22), words, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let page: Promise<unknown> | undefined
  const read = (chunk: Buffer) => {
    output += chunk.toString()
    const [url] = /^http\S+[?&]code_challenge=\S+(?=\n)/m.exec(output) ?? []
    // The tool prints the URL a moment before it listens for the answer.
    if (url === undefined || !output.includes('Callback server started')) return
    page ??= decide(url)
      .then((answer) => fetch(answer))
      .catch((error: unknown) => {
        output += `The owner failed: ${inspect(error)}`
        child.kill()
      })
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  await within('the conformance tool has ended', once(child, 'close'), () => output)
  await page
  const checks = readdirSync(folder).flatMap((scenario) => checksIn(join(folder, scenario, 'checks.json')))
  rmSync(folder, { recursive: true })
  if (checks.includes(undefined) || checks.length === 0)
    throw new Error(`The conformance tool did not end its checks:\n${output}`)
  return checks.filter((check) => check !== undefined)
}

function checksIn(file: string): readonly (Check | undefined)[] {
  if (!existsSync(file)) return [undefined]
  const checks: readonly Check[] = JSON.parse(readFileSync(file, 'utf8'))
  return checks
}

function optionsOf({ url, clientId, clientSecret, resource, port }: ConformancePlan): readonly string[] {
  const words = ['--url', url, '--client-id', clientId, '--port', String(port)]
  if (clientSecret !== undefined) words.push('--client-secret', clientSecret)
  if (resource !== undefined) words.push('--resource', resource)
  return words
}
