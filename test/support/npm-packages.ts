import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Packages of npm in a folder of their own, for a story that nothing else needs. */
export interface InstalledPackages {
  /** Where `node_modules` stands. */
  readonly folder: string
  remove(): void
}

const minutes = 4

/** @param packages with their exact versions, such as `left-pad@1.3.0`. */
export function installPackages(...packages: readonly string[]): InstalledPackages {
  const folder = mkdtempSync(join(tmpdir(), 'packages-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', folder]
  const { status, error, stderr } = spawnSync('npm', ['install', ...options, ...packages], {
    cwd: folder,
    encoding: 'utf8',
    timeout: minutes * 60_000,
  })
  if (status === 0) return { folder, remove }
  remove()
  throw new Error(`npm did not install ${packages.join(', ')} within ${minutes} minutes:\n${stderr}`, {
    cause: error,
  })
}
