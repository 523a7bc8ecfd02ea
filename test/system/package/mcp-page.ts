import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../support/mcp/free-port'
import { waitUntil } from '../../support/wait-until'
import type { PackedPackage } from './packed-package'
import { ended, fenced, pathWith22, runCommand } from './page-commands'

/** What the section "Try it" of docs/mcp.md makes of an empty folder. */
export interface TriedPage {
  readonly issuer: string
  /** The command of the page that starts mcp-remote, for the port of this server. */
  readonly mcpRemote: string
  stop(): Promise<void>
}

/**
 * Does what the section says, in an empty folder: its commands as they stand, the packed package and the packages of
 * this repository in place of the registry, and a free port.
 *
 * @param change changes `start.js` as a reader does.
 */
export async function tryPage(
  packed: PackedPackage,
  name: string,
  change = (text: string) => text,
): Promise<TriedPage> {
  const page = packed.read('docs/mcp.md')
  const folder = packed.emptyFolder(name)
  const { commands, program } = sectionOf(page)
  const isOfNpm = (command: string) => command.startsWith('npm ')
  const [start = '', ...rest] = commands.filter((command) => !isOfNpm(command))
  for (const command of commands.filter(isOfNpm)) runCommand(packed, folder, command)
  writeFileSync(join(folder, 'mcp.ts'), fenced(page, 'ts')[0] ?? '')
  writeFileSync(join(folder, 'start.js'), change(program))
  const port = await freePort()
  const child = spawn('/bin/sh', ['-c', `exec ${start}`], {
    cwd: folder,
    env: { ...process.env, PATH: pathWith22(), PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let trouble = ''
  child.stderr.on('data', (chunk: Buffer) => (trouble += chunk.toString()))
  const issuer = `http://localhost:${port}`
  await waitUntil('start.js listens', async () => {
    if (child.exitCode !== null) throw new Error(`${start} ended: ${trouble}`)
    return fetch(issuer).then(
      () => true,
      () => false,
    )
  })
  const remote = rest.find((command) => command.startsWith('npx mcp-remote ')) ?? ''
  // npx takes what the folder has.
  packed.install(folder, ['mcp-remote'])
  return {
    issuer,
    mcpRemote: `cd ${folder} && ${remote.replace('http://localhost:3000', issuer)}`,
    stop: () => ended(child),
  }
}

function sectionOf(page: string) {
  const [, section = ''] = /^## Try it\n(.*?)^## /ms.exec(page) ?? []
  const commands = fenced(section, 'sh').flatMap((text) => text.trim().split('\n'))
  const [program = ''] = fenced(section, 'js')
  return { commands, program }
}
