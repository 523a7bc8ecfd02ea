import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundled } from '../../support/bundled'
import { runInNode } from '../../support/stores/node-program'

const root = join(__dirname, '../../..')

const over = (broken: string) => `
  const { describe, it } = require('node:test')
  const { authorizationStoreContract } = require('./lib/testing')
  const { memoryStore } = require('./lib')
  const open = () => {
    let ahead = 0
    const sound = memoryStore({ clock: () => Date.now() + ahead })
    const { find, save, remove } = sound
    const store = { find: find.bind(sound), save: save.bind(sound), remove: remove.bind(sound), ...${broken} }
    return { store, advance: (seconds) => void (ahead += seconds * 1000) }
  }
  authorizationStoreContract('my store', open, { describe, it })
`

test('node:test runs the contract, which passes over a sound store and fails over one that overwrites', () => {
  const sound = runInNode(over('{}'))
  expect(sound.output).toMatch(/pass 53$/m)
  expect(sound.output).toMatch(/fail 0$/m)
  expect(sound.status).toBe(0)
  const overwriting = runInNode(
    over('{ save: async (a, r) => save.call(sound, a, r, (await find.call(sound, a.id))?.revision) }'),
  )
  expect(overwriting.output).toContain('is refused where there is a record, and overwrites nothing')
  expect(overwriting.status).toBe(1)
})

test('a contract without a test runner says what it lacks', () => {
  const { output } = runInNode(`
    const { authorizationStoreContract } = require('./lib/testing')
    try { authorizationStoreContract('my store', () => {}) } catch ({ name, message }) { console.log(name, message) }
  `)
  expect(output).toMatch(/^ConfigurationError .*\n.*runner must be \{ describe, it \}/)
})

test('a store that never answers breaks a rule after half a minute and does not hold up the next', () => {
  const { output } = runInNode(`
    const { mock } = require('node:test')
    mock.timers.enable({ apis: ['setTimeout'] })
    const { checkCounters } = require('./lib/testing')
    const never = () => new Promise(() => {})
    const ticking = setInterval(() => mock.timers.tick(30_000), 5)
    checkCounters(() => ({ counters: { add: never, useOnce: never } }))
      .then((verdicts) => console.log(new Set(verdicts.map(({ problem }) => problem.message))))
      .finally(() => clearInterval(ticking))
  `)
  expect(output).toContain("Set(1) { 'The store took more than 30 seconds.' }\n")
})

test('a store in memory keeps no process alive', () => {
  const { status, output } = runInNode(`
    const { memoryStore, redisStore } = require('./lib')
    const { activeRecord, inSeconds, random22 } = require('./test/support/stores/records')
    memoryStore().save(activeRecord(inSeconds(600)), random22()).then(console.log)
    const store = redisStore({ url: 'redis://127.0.0.1:1', cache: { maximum: 10 } })
    store.find('an id').catch(() => store.close())
  `)
  expect({ status, output }).toEqual({ status: 0, output: 'true\n' })
})

test('redisStore without ioredis says so with both cures, and works over a client of the host', () => {
  const program = `
    const Module = require('node:module')
    const load = Module._load
    Module._load = (name, ...more) => {
      if (name === 'ioredis') throw Object.assign(new Error('none'), { code: 'MODULE_NOT_FOUND' })
      return load(name, ...more)
    }
    const { redisStore } = require('./lib')
    try { redisStore({ url: 'redis://127.0.0.1' }) } catch ({ message }) { console.log(message) }
    redisStore({ client: { call: async (command) => console.log(command) } }).find('an id').then(console.log)
  `
  expect(runInNode(program).output).toBe(
    'redisStore({ url }) cannot connect:\n' +
      '  - ioredis is not installed: run "npm install ioredis", or pass redisStore({ client }).\n' +
      'GET\nundefined\n',
  )
})

test('Jest prints what went wrong in a helper of the kit, and no comparison of undefined with undefined', () => {
  const folder = mkdtempSync(join(tmpdir(), 'jest-output-'))
  const source = `
    const { approve, expectRefused } = require(${JSON.stringify(bundled(join(root, 'lib/testing/index.ts')))})
    const answering = (response) => {
      const sent = Promise.resolve({ headers: {}, body: {}, ...response })
      for (const name of ['query', 'set', 'type', 'send']) sent[name] = () => sent
      return sent
    }
    const follow = (page, token) =>
      approve(
        { get: () => answering(page), post: () => answering(token) },
        { clientId: 'album', redirectUri: 'https://album.example/callback' },
      )
    test('no redirect', () => follow({ status: 404, text: 'Cannot GET /authorize' }))
    test('no field', () => follow({ status: 200, text: '<p>Log in' }))
    test('no refusal', () => expectRefused({ status: 200, headers: {} }, 'token_invalid'))
  `
  try {
    writeFileSync(join(folder, 'host.test.js'), source)
    const words = ['--rootDir', folder, '--config', '{"transform":{}}', '--no-cache', '--no-color', '-i']
    const jest = join(root, 'node_modules/jest/bin/jest.js')
    const { stderr } = spawnSync(process.execPath, [jest, ...words], { cwd: root, encoding: 'utf8' })
    expect(stderr).toContain('The answer was 404: Cannot GET /authorize')
    expect(stderr).toContain('must have view.fields')
    expect(stderr).toContain('The request was not refused: the status is 200.')
    expect(stderr).toContain('3 failed')
    expect(stderr).not.toContain('undefined')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
