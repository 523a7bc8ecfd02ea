import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const packages = join(__dirname, '../../node_modules')
const esbuild = join(packages, '.bin/esbuild')
const options = ['--bundle', '--platform=node', '--packages=external', '--format=cjs', '--target=node20']
const files = new Map<string, string>()

/**
 * A module with all that it imports of this project, compiled into one file, whose path it returns: for processes that
 * tests start, each of which would compile every file of the suite for itself.
 */
export function bundled(module: string): string {
  const known = files.get(module)
  if (known !== undefined) return known
  const code = execFileSync(esbuild, [module, ...options], { maxBuffer: 1e8 })
  const folder = join(packages, '.cache/bundled')
  mkdirSync(folder, { recursive: true })
  const digest = createHash('sha256').update(code).digest('hex').slice(0, 16)
  const file = join(folder, `${basename(module, '.ts')}-${digest}.js`)
  // Others may be reading it, or writing the same.
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, code)
  renameSync(draft, file)
  files.set(module, file)
  return file
}
