import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { freePort } from '../../support/mcp/free-port'
import { waitUntil } from '../../support/wait-until'
import type { PackedPackage } from './packed-package'
import { ended, runCommand } from './page-commands'

/** The application that has followed docs/guides/step-by-step.md. */
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
 * Follows the page in an empty folder: its files, its changes and its commands in their order, with free ports in place of
 * those on the page.
 *
 * @param callbackPort where the app of the page listens.
 */
export async function followGuide(packed: PackedPackage, callbackPort: number): Promise<GuidedApplication> {
  const port = await freePort()
  const page = packed
    .read('docs/guides/step-by-step.md')
    .replaceAll(/\b3000\b/g, String(port))
    .replaceAll(/\b4000\b/g, String(callbackPort))
  const folder = packed.emptyFolder('existing')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  // What the application has had before.
  packed.install(folder, ['express', 'express-session', 'ejs', 'helmet'])
  const { commands, requests } = follow(packed, page, folder)
  const [start = '', ...others] = commands
  if (others.length > 0) throw new Error(`The page has more programs than one: ${commands.join(', ')}`)
  const child = spawn('/bin/sh', ['-c', `exec ${start}`], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const origin = `http://localhost:${port}`
  await waitUntil('the application listens', async () => {
    if (child.exitCode !== null) throw new Error(`${start} ended: ${output}`)
    return fetch(origin).then(
      () => true,
      () => false,
    )
  })
  const [request = ''] = /^http:\S+\/authorize\?\S+$/m.exec(page) ?? []
  const [redemption = ''] = requests
  return {
    origin,
    request,
    redemption: Object.fromEntries(
      Array.from(redemption.matchAll(/ -d (\w+)=(\S+)/g), ([, name = '', value = '']) => [name, value]),
    ),
    output: () => output,
    stop: () => ended(child),
  }
}

/** Does what the page says up to its programs and its requests, which it returns. */
function follow(packed: PackedPackage, page: string, folder: string) {
  const lines: string[] = []
  for (const [, name, language, text = ''] of page.matchAll(
    /(?:^`([\w./]+)`[^`\n]*:\n\n)?^```(\w+)\n(.*?)^```$/gms,
  )) {
    if (name !== undefined) write(join(folder, name), text)
    else if (language === 'diff') change(folder, text)
    else if (language === 'sh')
      for (const line of text.trim().split('\n'))
        if (/^(?:npm|cp) /.test(line)) runCommand(packed, folder, line)
        else lines.push(line)
  }
  const isRequest = (line: string) => line.startsWith('curl ')
  return { commands: lines.filter((line) => !isRequest(line)), requests: lines.filter(isRequest) }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** Applies a diff without line numbers: what it changes must stand in the file exactly once. */
function change(folder: string, diff: string): void {
  for (const [, name = '', text = ''] of diff.matchAll(/^--- (\S+)\n((?:(?!--- ).*\n)*)/gm)) {
    const path = join(folder, name)
    const lines = text.trimEnd().split('\n')
    const side = (without: string) =>
      lines
        .filter((line) => !line.startsWith(without))
        .map((line) => `${line.slice(1)}\n`)
        .join('')
    const parts = readFileSync(path, 'utf8').split(side('+'))
    if (parts.length !== 2)
      throw new Error(`${name} has these lines ${parts.length - 1} times:\n${side('+')}`)
    writeFileSync(path, parts.join(side('-')))
  }
}
