import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { bundled } from './bundled'
import { within } from './wait-until'

const root = join(__dirname, '../..')

/** A warning as Node gives it to listeners. */
export interface Warning {
  readonly name: string
  readonly code: string
  readonly message: string
}

// Each warning is given once per process: each program has modules of its own, in a thread of the test file.
const thread = (express: string, suite: string) => `
const { parentPort } = require('node:worker_threads')
const Program = (async () => {}).constructor
const serve = async (app, ask) => {
  const server = app.listen(0)
  await new Promise((resolve) => server.once('listening', resolve))
  await ask('http://127.0.0.1:' + server.address().port)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
const warnings = []
process.removeAllListeners('warning')
process.on('warning', ({ name, code, message }) => warnings.push({ name, code, message }))
const tell = () => parentPort.postMessage(warnings.splice(0))
const { versions, env } = process
async function run({ program, v8, alone }) {
  Object.defineProperty(process, 'versions', { value: { ...versions, v8 }, configurable: true })
  process.env = { ...env }
  const [express, suite] = ${JSON.stringify([express, suite])}.map((file) => {
    delete require.cache[file]
    return require(file)
  })
  const options = { issuer: 'http://localhost', clients: [], scopes: { a: 'A' }, resourceOwner: () => undefined }
  const given = { require, express, suite, ...suite, options, serve }
  if (alone) process.on('exit', tell)
  await new Program('{ ' + Object.keys(given) + ' }', '{' + program + ' }')(given)
  // In the turn of the event loop behind it at the latest.
  if (!alone) setImmediate(() => setImmediate(tell))
}
parentPort.once('message', (first) => {
  if (!first.alone) parentPort.on('message', run)
  return run(first)
})
`

interface Thread {
  readonly worker: Worker
  readonly ended: Promise<undefined>
}

function start(): Thread {
  const [express, suite] = ['node_modules/express/index.js', 'test/support/whole-suite.ts'].map((module) =>
    bundled(join(root, module), 'bundled'),
  )
  const worker = new Worker(thread(String(express), String(suite)), { eval: true })
  worker.once('error', () => (shared = undefined))
  const ended = once(worker, 'exit').then(([code]) => {
    if (code !== 0) throw new Error(`The program ended with ${code}.`)
    return undefined
  })
  return { worker, ended }
}

let shared: Thread | undefined
afterAll(async () => {
  await shared?.worker.terminate()
  await shared?.ended.catch(() => undefined)
})

interface Surroundings {
  /** The version of V8 that the suite sees. Default that of this process. */
  readonly v8?: string
  /** Whether the program has a thread of its own, which it must let end by itself. Default false. */
  readonly alone?: boolean
}

/**
 * The warnings of this suite that a program gives, in order. It finds `express`, `suite` and what the suite exports,
 * `options` for a server, and `serve`, which lets an application listen.
 */
export async function warningsOf(
  program: string,
  { v8 = process.versions.v8, alone = false }: Surroundings = {},
): Promise<readonly Warning[]> {
  const { worker, ended } = alone ? start() : (shared ??= start())
  const told = once(worker, 'message')
  worker.postMessage({ program, v8, alone }) // oxlint-disable-line unicorn/require-post-message-target-origin
  const [warnings]: (readonly Warning[])[] = await within(
    'the program has ended',
    alone
      ? Promise.all([told, ended]).then(([message]) => message)
      : Promise.race([told, ended.then(() => [])]),
  )
  return (warnings ?? []).filter(({ name }) => name === 'AuthorizationServerWarning')
}
