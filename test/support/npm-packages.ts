import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const caches = join(__dirname, '../../node_modules/.cache/packages')
const minutes = 4

/**
 * A package of npm in a folder of its own, which stays, for a story that nothing else needs: where its `node_modules`
 * stand.
 *
 * @param name with the exact version, such as `left-pad@1.3.0`.
 */
export function installPackage(name: string): string {
  const folder = join(caches, name.replaceAll('/', '+'))
  if (existsSync(folder)) return folder
  mkdirSync(caches, { recursive: true })
  const draft = mkdtempSync(`${folder}-`)
  writeFileSync(join(draft, 'package.json'), '{ "private": true }')
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', draft]
  const { status, error, stderr } = spawnSync('npm', ['install', ...options, name], {
    cwd: draft,
    encoding: 'utf8',
    timeout: minutes * 60_000,
  })
  // Another process may have installed the same.
  if (status === 0 && !existsSync(folder)) renameSync(draft, folder)
  else rmSync(draft, { recursive: true, force: true })
  if (existsSync(folder)) return folder
  throw new Error(`npm did not install ${name} within ${minutes} minutes:\n${stderr}`, { cause: error })
}
