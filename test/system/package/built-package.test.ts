import { spawnSync } from 'node:child_process'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { version } from '../../../package.json'
import { smallest, withJose } from './bundled-servers'
import { PackedPackage } from './packed-package'

let packed: PackedPackage
let folder: string
beforeAll(() => {
  packed = new PackedPackage()
  folder = packed.application('built', [])
})
afterAll(() => packed.remove())

/** Runs a file of the application that has the package. */
function run(file: string, program: string, words: readonly string[] = [file], more: NodeJS.ProcessEnv = {}) {
  writeFileSync(join(folder, file), program)
  const env = { ...process.env, ...more }
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

const name = 'express-authorization-server'
const paths = ['', ...readdirSync(join(__dirname, '../../../lib/paths')).map((file) => basename(file, '.ts'))]

/** What a program says that has to end well. */
function said(file: string, program: string): unknown {
  const { stdout, ...end } = run(file, program)
  expect(end).toEqual({ status: 0, stderr: '' })
  return JSON.parse(stdout)
}

test.each([
  ['required', 'names.cjs', (path: string) => `require('${path}')`],
  ['imported', 'names.mjs', (path: string) => `await import('${path}')`],
])('each path of the package has all that its source exports when it is %s', (_how, file, load) => {
  const list = paths.map((path) => `Object.keys(${load(join(name, path))})`).join()
  expect(said(file, `console.log(JSON.stringify([${list}]))`)).toEqual(
    paths.map((path) => {
      const source: object = require(join('../../../lib', path === '' ? 'index' : `paths/${path}`))
      return expect.arrayContaining(Object.keys(source))
    }),
  )
})

test('the package loads few files, and no package that it may never need', () => {
  const program = `require('${name}'); console.log(JSON.stringify(Object.keys(require.cache)))`
  const loaded = said('loaded.cjs', program)
  if (!Array.isArray(loaded)) throw new Error('a list of files is expected')
  expect(loaded.filter((file) => String(file).includes(`${name}/dist/`)).length).toBeLessThan(10)
  const foreign = /node_modules\/(express|express-rate-limit|ioredis|jose|@xmldom|xml-crypto)\//
  expect(loaded.filter((file) => foreign.test(String(file)))).toEqual([])
})

test('a server without JWTs never loads jose', () => {
  const bare = packed.application('no-jose', ['express'])
  rmSync(join(bare, 'node_modules/jose'))
  const outcomes = [smallest, withJose].map((program) => {
    writeFileSync(join(bare, 'server.cjs'), program)
    const { stdout } = spawnSync(process.execPath, ['server.cjs'], { cwd: bare, encoding: 'utf8' })
    return stdout
  })
  expect(outcomes).toEqual(['200 200 1\n', '200 500 3\n'])
})

test('the package is one suite to all its entries: what one throws, the others know', () => {
  const program = `const { password } = require('${name}/grants')
    exports.options = { get issuer() { password({}) } }`
  const main = `node_modules/${name}/dist/command-line/main.js`
  const { status, stdout } = run('mistaken.cjs', program, [main, 'lint', 'mistaken.cjs', '--json'])
  expect(status).toBe(2)
  expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ path: 'verify' })])
})

test.each([
  ['required', 'stores.cjs', `const { storeFrom } = require('${name}/stores')`],
  ['imported', 'stores.mjs', `import { storeFrom } from '${name}/stores'`],
])('storeFrom() names the package that is missing, and says how to get it: %s', (_how, file, load) => {
  const urls = ['postgres://:s3cret@localhost/shop', 'redis://:s3cret@localhost', 'file:./oauth.db']
  const program = `${load}; const messages = []
    for (const STORE_URL of ${JSON.stringify(urls)})
      try { storeFrom({ STORE_URL }) } catch ({ name, message }) { messages.push(name + ' ' + message) }
    console.log(JSON.stringify(messages))`
  const withoutSqlite = process.versions.node.startsWith('20.')
  const cures = [
    'storeFrom() cannot connect to the PostgreSQL of STORE_URL:\n  - pg is not installed: run "npm install pg".',
    'redisStore({ url }) cannot connect:\n  - ioredis is not installed: run "npm install ioredis", or pass redisStore({ client }).',
    'sqliteStore() needs SQLite, which this version of Node has not:\n  - better-sqlite3 is not installed: run Node 22.15 or later, or "npm install better-sqlite3@12".',
  ].slice(0, withoutSqlite ? 3 : 2)
  expect(said(file, program)).toEqual(cures.map((cure) => `ConfigurationError ${cure}`))
})

test('the command of the package prints its version', () => {
  const words = [`node_modules/${name}/dist/command-line/main.js`, '--version']
  expect(run('version.cjs', '', words)).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
})

test.each([
  ['required', 'production.cjs', `require('${name}/testing')`],
  ['imported', 'production.mjs', `import '${name}/testing'`],
])('the testing kit does not load in production, %s', (_how, file, load) => {
  expect(run(file, load, [file], { NODE_ENV: 'production' })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(`${name}/testing does not load if NODE_ENV is production`),
  })
})
