import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bundled } from '../../support/bundled'
import { warningsOf } from '../../support/warnings'

const root = join(__dirname, '../../..')
const load = (name: string) => `require(${JSON.stringify(bundled(join(root, 'lib', name)))})`

/** Runs JavaScript in a process of its own, without the globals of a test runner. */
function runInNode(source: string) {
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const options = { cwd: root, env, encoding: 'utf8', timeout: 120_000 } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', source], options)
  return { status, output: stdout + stderr }
}

test('node:test runs the contract, which fails over a store that overwrites', () => {
  const { output, status } = runInNode(`
    const { describe, it } = require('node:test')
    const { storeContract } = ${load('paths/testing.ts')}
    const { memoryStore } = ${load('index.ts')}
    const open = () => {
      const store = memoryStore()
      const { write } = store
      store.write = async (key, value, terms) =>
        write.call(store, key, value, { ...terms, expected: (await store.read(key))?.version })
      return { store, advance: () => {} }
    }
    storeContract('my store', open, { describe, it })
  `)
  expect(output).toContain('is refused where a record is, and overwrites nothing')
  expect(status).toBe(1)
})

test('a contract without a test runner says what it lacks', () => {
  const { output } = runInNode(`
    const { storeContract } = ${load('paths/testing.ts')}
    try { storeContract('my store', () => {}) } catch ({ name, message }) { console.log(name, message) }
  `)
  expect(output).toMatch(/^ConfigurationError .*\n.*runner must be \{ describe, it \}/)
})

test('redisStore without ioredis says so with both cures, and works over a client of the host', () => {
  const { output } = runInNode(`
    const Module = require('node:module')
    const load = Module._load
    Module._load = (name, ...more) => {
      if (name === 'ioredis') throw Object.assign(new Error('none'), { code: 'MODULE_NOT_FOUND' })
      return load(name, ...more)
    }
    const { redisStore } = ${load('paths/redis.ts')}
    try { redisStore({ url: 'redis://127.0.0.1' }) } catch ({ message }) { console.log(message) }
    redisStore({ client: { call: async (command) => console.log(command) } }).read('an id').then(console.log)
  `)
  expect(output).toBe(
    'redisStore({ url }) cannot connect:\n' +
      '  - ioredis is not installed: run "npm install ioredis", or pass redisStore({ client }).\n' +
      'GET\nundefined\n',
  )
})

test('a store in memory, and a closed one on Redis, keep no process alive', async () => {
  const program = `
    await memoryStore().add('a key', 1, 600)
    const store = suite.redisStore({ url: 'redis://127.0.0.1:1', cache: { maximum: 10 } })
    store.read('an id').catch(() => store.close())
  `
  expect(await warningsOf(program, { alone: true })).toEqual([])
})

test('a store that never answers breaks a rule after half a minute and does not hold up the next', () => {
  const { output } = runInNode(`
    const { mock } = require('node:test')
    mock.timers.enable({ apis: ['setTimeout'] })
    const { checkStore } = ${load('paths/testing.ts')}
    const never = () => new Promise(() => {})
    const ticking = setInterval(() => mock.timers.tick(30_000), 5)
    checkStore(() => ({ store: { read: never, write: never, remove: never, add: never, list: never } }))
      .then((verdicts) => console.log(new Set(verdicts.map(({ problem }) => problem.message))))
      .finally(() => clearInterval(ticking))
  `)
  expect(output).toContain("Set(1) { 'The store took more than 30 seconds.' }\n")
})
