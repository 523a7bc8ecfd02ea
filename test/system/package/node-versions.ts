/**
 * `npm run test:node`: installs the packed package as an application does, and walks a flow and a guard with it on every
 * line of Node that it is for, and on this one, under `node:test` and Vitest. Needs the registry of npm. Name versions to
 * walk fewer: `npm run test:node 24`.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installMissingNodes, nodeVersions, requireNode } from '../../support/nodes'
import { imported, required } from './kit-tests'
import { PackedPackage } from './packed-package'

const named = process.argv.slice(2)
installMissingNodes()
const nodes = new Set([process.execPath, ...nodeVersions.map(requireNode)])

const packed = new PackedPackage()
let failed = 0
try {
  const application = join(packed.folder, 'application')
  mkdirSync(application)
  writeFileSync(join(application, 'package.json'), '{ "private": true }')
  install(application, [packed.tarball, 'express@5', 'supertest@7', 'vitest@3'])
  writeFileSync(join(application, 'kit.cjs'), required("const { test } = require('node:test')"))
  writeFileSync(join(application, 'kit.mjs'), imported("import { test } from 'node:test'"))
  writeFileSync(join(application, 'kit.test.mjs'), imported("import { test } from 'vitest'"))
  for (const node of nodes) {
    const number = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
    if (named.length > 0 && !named.some((version) => number.startsWith(`v${version}.`))) continue
    walk(application, node, `${number}, CommonJS`, ['--test', 'kit.cjs'])
    walk(application, node, `${number}, ES modules`, ['--test', 'kit.mjs'])
    walk(application, node, `${number}, Vitest`, ['node_modules/vitest/vitest.mjs', 'run', 'kit.test.mjs'])
  }
} finally {
  packed.remove()
}
process.exitCode = failed === 0 ? 0 : 1

function install(folder: string, packages: readonly string[]): void {
  const options = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder]
  execFileSync('npm', ['install', ...options, ...packages], { stdio: ['ignore', 'ignore', 'inherit'] })
}

function walk(application: string, node: string, what: string, parameters: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(node, parameters, { cwd: application, encoding: 'utf8' })
  const passed = status === 0 && /pass 2\b|2 passed/.test(stdout)
  if (!passed) failed += 1
  console.log(`${passed ? 'passed' : 'FAILED'}  Node ${what}${passed ? '' : `\n${stdout}${stderr}`}`)
}
