import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(__dirname, '..', '..', '..')

/** Runs JavaScript in a process of its own, where `require` finds TypeScript too, from the root of the project. */
export function runInNode(source: string): { status: number | null; output: string } {
  const words = ['-r', 'esbuild-register', '-e', source]
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    cwd: root,
    encoding: 'utf8',
    timeout: 120_000,
  })
  return { status, output: stdout + stderr }
}
