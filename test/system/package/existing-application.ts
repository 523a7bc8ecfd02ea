import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../support/mcp/free-port'
import { waitUntil } from '../../support/wait-until'
import type { PackedPackage } from './packed-package'
import { ended, fenced, pathWith22, runCommand } from './page-commands'

/** The application of docs/guides/add-to-your-application.md. */
export interface GuidedApplication {
  readonly origin: string
  /** What the reader opens to begin. */
  readonly request: string
  /** The fields of the token request, without the code. */
  readonly redemption: Readonly<Record<string, string>>
  /** All that it wrote. */
  output(): string
  stop(): Promise<void>
}

/**
 * Does what the page says, in an empty folder: its commands as they stand, and its program at a free port.
 *
 * @param callback where the app of the page listens.
 */
export async function followGuide(packed: PackedPackage, callback: string): Promise<GuidedApplication> {
  const page = packed.read('docs/guides/add-to-your-application.md')
  const folder = packed.emptyFolder('existing')
  const [install = '', copy = '', start = ''] = linesOf(page, 0)
  for (const command of [install, copy]) runCommand(packed, folder, command)
  writeFileSync(join(folder, 'server.mts'), fenced(page, 'ts')[0] ?? '')
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const settings = { ISSUER: origin, PORT: String(port), CALLBACK: callback, PATH: pathWith22() }
  const child = spawn('/bin/sh', ['-c', `exec ${start}`], {
    cwd: folder,
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await waitUntil('the application listens', async () => {
    if (child.exitCode !== null) throw new Error(`${start} ended: ${output}`)
    return fetch(origin).then(
      () => true,
      () => false,
    )
  })
  const [, path = ''] = /^http:\/\/localhost:3000(\/authorize\?\S+)$/m.exec(page) ?? []
  const [redemption = ''] = linesOf(page, 1)
  return {
    origin,
    request: origin + path,
    redemption: Object.fromEntries(
      Array.from(redemption.matchAll(/ -d (\w+)=(\S+)/g), ([, name = '', value = '']) => [name, value]),
    ),
    output: () => output,
    stop: () => ended(child),
  }
}

/** The commands of a block of the page. */
const linesOf = (page: string, block: number): readonly string[] =>
  (fenced(page, 'sh')[block] ?? '').trim().split('\n')
