/**
 * `npm run test:runtimes`: runs servers of the packed package on Bun and Deno, and bundles them with webpack and Bun. Needs
 * the registry of npm, and Linux on x64.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { smallest, withJose } from './bundled-servers'
import { PackedPackage } from './packed-package'

const tools = [
  '@oven/bun-linux-x64@1.4.5',
  '@deno/linux-x64-glibc@2.9.6',
  'webpack@5.113.0',
  'webpack-cli@7.3.1',
]

const packed = new PackedPackage()
let failed = 0
try {
  const folder = packed.emptyFolder('tools')
  install(folder, tools)
  const tool = (path: string) => join(folder, 'node_modules', path)
  const bun = tool('@oven/bun-linux-x64/bin/bun')
  const webpack = tool('webpack-cli/bin/cli.js')
  const bare = applicationWith('bare', smallest, [])
  const jose = applicationWith('jose', withJose, [])
  const opaque = '200 200 1\n'
  const jwt = '200 200 3\n'
  expectOutput('Bun', bun, ['server.cjs'], bare, opaque)
  expectOutput('Bun, jose', bun, ['server.cjs'], jose, jwt)
  const deno = ['run', '--allow-all', '--cached-only', 'server.cjs']
  expectOutput('Deno', tool('@deno/linux-x64-glibc/deno'), deno, bare, opaque)
  expectOutput('Deno, jose', tool('@deno/linux-x64-glibc/deno'), deno, jose, jwt)
  for (const [name, application, output] of [
    ['smallest', bare, opaque],
    ['jose', jose, jwt],
  ] as const) {
    // Where no package is, a bundle finds only what is inside.
    const outside = packed.emptyFolder(`${name}-outside`)
    const made = join(outside, 'bun.cjs')
    run(bun, ['build', 'server.cjs', '--target=node', '--format=cjs', `--outfile=${made}`], application)
    expectOutput(`Bun's bundle, ${name}`, process.execPath, ['--no-deprecation', 'bun.cjs'], outside, output)
    const words = ['./server.cjs', '--target', 'node', '--mode', 'none', '--output-path', outside]
    run(process.execPath, [webpack, ...words], application)
    expectOutput(
      `webpack's bundle, ${name}`,
      process.execPath,
      ['--no-deprecation', 'main.js'],
      outside,
      output,
    )
  }
} finally {
  packed.remove()
}
process.exitCode = failed === 0 ? 0 : 1

function install(folder: string, packages: readonly string[]): void {
  const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  execFileSync('npm', ['install', ...options, '--prefix', folder, ...packages], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** Optional peers stay away unless they are named. */
function applicationWith(name: string, program: string, packages: readonly string[]): string {
  const application = join(packed.folder, name)
  mkdirSync(application)
  writeFileSync(join(application, 'package.json'), '{ "private": true }')
  install(application, [packed.tarball, 'express@5', ...packages])
  writeFileSync(join(application, 'server.cjs'), program)
  return application
}

function run(program: string, words: readonly string[], cwd: string) {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd, encoding: 'utf8', timeout: 300_000 })
  return { status, stdout, stderr }
}

function expectOutput(
  what: string,
  program: string,
  words: readonly string[],
  cwd: string,
  expected: string,
): void {
  const { status, stdout, stderr } = run(program, words, cwd)
  const passed = status === 0 && stdout === expected
  if (!passed) failed += 1
  console.log(`${passed ? 'passed' : 'FAILED'}  ${what}${passed ? '' : `\n${stdout}${stderr}`}`)
}
