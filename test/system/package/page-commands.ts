import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, dirname } from 'node:path'
import { requireNode } from '../../support/nodes'
import type { PackedPackage } from './packed-package'

/** The blocks of code of a page in one language. */
export function fenced(text: string, language: string): readonly string[] {
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))
  return Array.from(blocks, ([, block = '']) => block)
}

/** Runs a command of a page in a folder; `npm install` takes the packed package, and the packages of this repository. */
export function runCommand(packed: PackedPackage, folder: string, command: string): void {
  const [, names] = /^npm install (.+)$/.exec(command) ?? []
  if (names !== undefined) return packed.install(folder, names.split(' '))
  const { status, stderr } = spawnSync('/bin/sh', ['-c', command], { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ends with ${status}:\n${stderr}`)
}

/** Ends a program that a page has started. */
export async function ended(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill()
  await gone
}

/** For pages that ask for a Node that runs TypeScript. */
export function pathWith22(): string {
  return [dirname(requireNode(22)), process.env['PATH']].join(delimiter)
}
