import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** The versions of Node that the package is for, beside the one that runs the tests. */
export const nodeVersions = [22, 24, 26] as const

type NodeVersion = (typeof nodeVersions)[number]

const caches = join(__dirname, '../../node_modules/.cache')
const installed = join(caches, 'nodes')

/** Installs the versions of Node from npm beside the packages of the project, where they stay. */
export function installMissingNodes(): void {
  if (nodeVersions.every((version) => findNode(version) !== undefined)) return
  mkdirSync(caches, { recursive: true })
  const draft = mkdtempSync(join(caches, 'nodes-'))
  cpSync(join(__dirname, 'nodes'), draft, { recursive: true })
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status, stderr, error } = spawnSync('npm', words, { cwd: draft, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ci failed in ${draft}:\n${stderr}`, { cause: error })
  rmSync(installed, { recursive: true, force: true })
  renameSync(draft, installed)
}

/** The path of this version of Node. */
export function requireNode(version: NodeVersion): string {
  const found = findNode(version)
  if (found !== undefined) return found
  throw new Error(`The test needs Node ${version}: set NODE_${version} to the path of one.`)
}

function findNode(version: NodeVersion): string | undefined {
  const named = process.env[`NODE_${version}`]
  if (named) return named
  if (Number.parseInt(process.versions.node, 10) === version) return process.execPath
  const name = `node-${version}-${process.platform}-${process.arch}`
  const path = join(installed, 'node_modules', name, 'bin/node')
  return existsSync(path) ? path : undefined
}
