import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { ClientIdentity, ClientPlan, ClientReport } from './client-plan'
import { textOf } from './clients'
import { waitUntil } from '../wait-until'
import { decide } from './owner'

// It prints each URL first, then asks the server whether it still knows the client, and then opens the browser.
const page = new RegExp(
  String.raw`visiting:\s+(\S+)(?:(?!visiting:)[^])*?(?:Browser opened|Could not open a browser)`,
  'g',
)

/** Calls tools through mcp-remote, which keeps tokens in a folder and waits for the redirection on a port. */
export async function throughMcpRemote(
  { server, client: identity, tools, folder: kept, ...plan }: ClientPlan,
  report: (report: ClientReport) => void,
): Promise<void> {
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'mcp-remote-'))
  const transport = new StdioClientTransport({
    ...(plan.command === undefined
      ? {
          command: process.execPath,
          args: [require.resolve('mcp-remote/dist/proxy.js'), server, ...wordsFor(identity)],
        }
      : { command: '/bin/sh', args: ['-c', plan.command] }),
    // Nothing of this machine opens the page: the program that stands for a browser does nothing.
    env: { ...inherited(), MCP_REMOTE_CONFIG_DIR: folder, TMPDIR: folder, BROWSER: 'true', DISPLAY: '' },
    stderr: 'pipe',
  })
  let said = ''
  let opened = 0
  let pid: number | null = null
  const fail = (error: unknown) => {
    report({ error: 'NotApproved', message: `${String(error)}\n${said}` })
    process.exit(1)
  }
  transport.stderr?.on('data', (chunk: Buffer) => {
    pid ??= transport.pid
    said += chunk.toString()
    const pages = [...said.matchAll(page)].map(([, url = '']) => url)
    for (const authorization of pages.slice(opened)) open(authorization).catch(fail)
    opened = pages.length
  })
  const open = async (authorization: string): Promise<void> => {
    report({ authorization })
    const answer = await decide(authorization, 'approve', plan.owner)
    report({ answer: answer.href })
    await deliver(answer)
  }
  const client = new Client({ name: 'notes-for-the-desk', version: '1.0.0' })
  try {
    await client.connect(transport)
    for (const tool of tools) {
      const result = await client.callTool({ name: tool, arguments: plan.arguments?.[tool] ?? {} })
      report({ tool, text: textOf(result) })
    }
  } catch (error) {
    throw new Error(`mcp-remote failed: ${String(error)}\n${said}`, { cause: error })
  } finally {
    await client.close()
    // It holds its port until it has ended, and the next run may need the same one.
    const ended = pid
    if (ended !== null) await waitUntil('mcp-remote has ended', () => Promise.resolve(!isRunning(ended)))
    if (kept === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Follows the redirection to mcp-remote, which may listen only after it has printed where the owner has to go. */
async function deliver(answer: URL): Promise<void> {
  const delivered = () =>
    fetch(answer).then(
      () => true,
      () => false,
    )
  await waitUntil('mcp-remote takes the redirection', delivered)
}

function wordsFor(identity: ClientIdentity): readonly string[] {
  const port = 'redirectUri' in identity ? new URL(identity.redirectUri).port : ''
  const callback = [port, '--host', '127.0.0.1', '--auth-timeout', '120']
  if (identity.kind === 'dynamic') return callback
  if (identity.kind === 'document') return [...callback, '--client-metadata-url', identity.url]
  if (identity.kind !== 'known') throw new Error(`mcp-remote goes by no ${identity.kind} here.`)
  const information = { client_id: identity.clientId, client_secret: identity.clientSecret }
  return [...callback, '--static-oauth-client-info', JSON.stringify(information)]
}

const inherited = (): Record<string, string> =>
  Object.fromEntries(['PATH', 'HOME'].map((name) => [name, process.env[name] ?? '']))
