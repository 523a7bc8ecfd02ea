import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildSync } from 'esbuild'

const options = ['--require', 'test/support/env', '--reporter', 'tap', '--check-leaks', '--timeout', '20000']

/** How the tests of Express ended: a line for each, in order of their titles. */
async function outcomes(checkout: string, preload: readonly string[], env = {}): Promise<readonly string[]> {
  const mocha = join(checkout, 'node_modules/.bin/mocha')
  const words = [mocha, ...preload, ...options, 'test/', 'test/acceptance/']
  const child = spawn(process.execPath, words, {
    cwd: checkout,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let report = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (report += text))
  await once(child, 'close')
  const tests = [...report.matchAll(/^(not ok|ok) \d+ (.*)$/gm)]
  return tests.map(([, outcome, title]) => `${title}: ${outcome}`).toSorted()
}

/** Runs it with every server for an application made by `createServer`. From Node 24 on, those are plain servers. */
async function outcomesOnCreated(checkout: string): Promise<{ lines: readonly string[]; servers: string }> {
  const place = mkdtempSync(join(tmpdir(), 'express-suite-'))
  try {
    const [preload, noted] = [join(place, 'preload.js'), join(place, 'servers')]
    buildSync({
      entryPoints: [join(__dirname, 'preload.ts')],
      outfile: preload,
      bundle: true,
      platform: 'node',
    })
    const lines = await outcomes(checkout, ['--require', preload], { SERVERS_MADE: noted })
    return { lines, servers: existsSync(noted) ? readFileSync(noted, 'utf8') : '' }
  } finally {
    rmSync(place, { recursive: true })
  }
}

function summaryOf(name: string, lines: readonly string[]): string {
  const failed = lines.filter((line) => line.endsWith(': not ok'))
  return `${name}: ${lines.length - failed.length} passed or skipped, ${failed.length} failed`
}

/** What keeps the two from being the same, if anything. */
async function compare(checkout: string): Promise<readonly string[]> {
  const plain = await outcomes(checkout, [])
  const { lines, servers } = await outcomesOnCreated(checkout)
  const made = servers.replaceAll('-', '').length
  console.log(`${summaryOf('node:http', plain)}\n${summaryOf('createServer()', lines)}, on ${made} servers`)
  return [
    ...plain.filter((line) => !lines.includes(line)).map((line) => `only on node:http: ${line}`),
    ...lines.filter((line) => !plain.includes(line)).map((line) => `only on createServer(): ${line}`),
    ...(plain.length === lines.length && plain.length > 0
      ? []
      : ['The runs have not the same tests, or none.']),
    ...(made > 0 ? [] : ['No server was made by createServer().']),
    ...(servers.includes('-') ? ['Some of its servers were plain ones.'] : []),
  ]
}

const [checkout] = process.argv.slice(2)
if (checkout === undefined) {
  console.error('usage: npm run test:express -- FOLDER, a checkout of Express after npm install there')
  process.exitCode = 2
} else {
  compare(resolve(checkout)).then(
    (differences) => {
      for (const difference of differences) console.error(difference)
      process.exitCode = differences.length === 0 ? 0 : 1
    },
    (error: unknown) => {
      console.error(error)
      process.exitCode = 1
    },
  )
}
