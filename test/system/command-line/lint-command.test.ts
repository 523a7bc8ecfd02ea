import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../../lib/command-line/run'
import { rules } from '../../../lib/command-line/lint/lint'
import { commandLine } from '../../support/command-line'

const root = join(__dirname, '../../..')
const suite = JSON.stringify(join(root, 'lib/index.ts'))

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lint-command-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Writes a configuration and looks at it in a process of its own. */
async function look(name: string, text: string, ...words: readonly string[]) {
  const file = join(folder, name)
  writeFileSync(file, text)
  return commandLine(['lint', file, ...words])
}

const clean = `issuer: 'https://login.example', scopes: { a: 'A' }, resourceOwner: () => 'ada',
  store: { find() {}, save() {}, remove() {}, counters: { add() {}, useOnce() {} } },
  clients: [{ client_id: 'wall', client_type: 'public', redirect_uris: ['https://wall.example/'], scope: 'a' }]`

describe('lint CONFIG', () => {
  it('says that nothing was found, and ends with 0', async () => {
    expect(await look('clean.mjs', `export default { ${clean} }`)).toEqual({
      status: 0,
      stdout: '',
      stderr: `0 errors, 0 warnings in ${rules.length} rules and 1 client.\n`,
    })
  })

  it('prints findings as a table and as sentences, and exits with 1', async () => {
    const { status, stdout, stderr } = await look(
      'poor.mjs',
      `export const options = { ${clean}, pkce: 'none' }`,
    )
    expect(status).toBe(1)
    expect(stdout).toMatch(
      /^severity +rule +path +client +source\nerror +pkce-off +pkce +- +RFC 9700 2\.1\.1\n\n/,
    )
    expect(stdout).toContain('\npkce-off: An intercepted or injected code')
    expect(stderr).toContain('1 error, 0 warnings')
  })

  it('answers with JSON alone when asked to, and leaves out what is allowed', async () => {
    const poor = `module.exports = async () => ({ ${clean}, pkce: 'none', lifetimes: { refreshTokenGrace: 300 }, storeDeadline: 60 })`
    const { status, stdout } = await look(
      'f.cjs',
      poor,
      '--json',
      '--allow',
      'pkce-off',
      '--allow=store-deadline',
    )
    expect(status).toBe(1)
    expect(JSON.parse(stdout)).toEqual([
      {
        rule: 'refresh-grace',
        severity: 'warning',
        path: 'lifetimes.refreshTokenGrace',
        why: expect.stringMatching(/\.$/),
        cure: expect.stringMatching(/\.$/),
        source: 'RFC 9700 4.14.2',
      },
    ])
  })

  it('prints every mistake that stops a server, and exits with 2', async () => {
    const wrong = `exports.default = { ${clean}, issuer: 'x', pkce: 'some', clientz: [] }`
    const { status, stdout } = await look('wrong.cjs', wrong, '--json')
    expect(status).toBe(2)
    const found: readonly { readonly path: string }[] = JSON.parse(stdout)
    expect(found.map(({ path }) => path)).toEqual(['issuer', 'pkce', 'clientz'])
    expect((await look('wrong.cjs', wrong)).stdout).toMatch(/^error +configuration +issuer +This must be/m)
  })

  it.each([
    ['a module that throws', 'throws.mjs', 'throw new Error("no database")', 'no database'],
    [
      'a function that rejects',
      'rejects.cjs',
      'module.exports = async () => { throw new Error("no way") }',
      'no way',
    ],
    ['no JSON', 'none.json', '{', 'JSON'],
    ['what holds no options', 'three.mjs', 'export default 3', ''],
  ])('ends with 2 for %s', async (_, name, text, why) => {
    const { status, stdout, stderr } = await look(name, text)
    expect(status).toBe(2)
    expect(stdout + stderr).toContain(why)
    expect(stdout + stderr).not.toContain('    at ')
  })

  it.each([
    ['a name that Node does not load', 'options.tsx', `export const options: object = { ${clean} }`],
    ['what is more than types', 'enum.cts', `enum A { B }; module.exports = { ${clean} }`],
  ])('names the way for TypeScript: %s', async (_, name, text) => {
    const { status, stderr } = await look(name, text)
    expect(status).toBe(2)
    expect(stderr).toContain(
      `\nNODE_OPTIONS='--import tsx' npx express-authorization-server lint ${join(folder, name)}\n`,
    )
  })

  it('names no way for TypeScript where there is no such file', async () => {
    const { status, stderr } = await commandLine(['lint', join(folder, 'missing.ts')])
    expect(status).toBe(2)
    expect(stderr).not.toContain('tsx')
  })

  it('looks at plain data', async () => {
    const { status, stdout, stderr } = await look(
      'plain.json',
      JSON.stringify({
        issuer: 'https://login.example',
        scopes: { a: 'A' },
        clients: [{ client_id: 'x', client_type: 'public', redirect_uris: ['x:/'], scope: 'a' }],
      }),
    )
    expect(status).toBe(1)
    expect(stdout).toMatch(
      /^warning +redirect-uri-scheme-without-dot +clients\[0\]\.redirect_uris\[0\] +x +RFC/m,
    )
    expect(stdout).not.toContain('memory-')
    expect(stderr).toContain('JSON holds no store')
  })

  it('ends although the configuration opened something, closes the store, and never listens', async () => {
    const listener = createServer().listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const { port } = Object(listener.address())
    const text = `const { redisStore, memoryCounters } = require(${suite})
      setInterval(() => {}, 1000)
      const store = redisStore({ url: 'redis://127.0.0.1:${port}' })
      const { close } = store
      store.close = () => { process.stderr.write('closed\\n'); return close.call(store) }
      module.exports.options = { ${clean}, store, clients: store.clients }`
    try {
      const { status, stderr } = await look('redis.cjs', text)
      expect(status).toBe(0)
      expect(stderr).toContain('closed\n')
      expect(stderr).toContain('Clients were not checked: the store of clients does not answer.')
    } finally {
      listener.close()
    }
  })

  it('finds no error in the server of the README', async () => {
    const server = readFileSync(join(root, 'docs/examples/server.ts'), 'utf8')
    const [, options] = /createAuthorizationServer\((\{.*?\n\})\)/s.exec(server) ?? []
    const [callback] = /^const callback = .*$/m.exec(server) ?? []
    const { status, stdout } = await look('readme.mjs', `${callback}\nexport default ${options}`, '--json')
    expect(status).toBe(1)
    const found: readonly { readonly rule: string; readonly severity: string }[] = JSON.parse(stdout)
    expect(found.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(found.map(({ rule }) => rule)).toEqual(['issuer-http', 'memory-store'])
  })
})

describe('lint', () => {
  it.each([[['--help']], [[]], [['CONFIG', '--help']], [['--rules']]])(
    'lists all rules: %j',
    async (words) => {
      const { status, output } = await run(['lint', ...words], {})
      expect(status).toBe(0)
      for (const { id, severity, source } of rules)
        expect(output).toMatch(new RegExp(`^${id} +${severity} +.* ${source}$`, 'm'))
    },
  )

  it('is named by --help', async () => {
    expect((await run(['--help'], {})).output).toContain('express-authorization-server lint CONFIG')
  })

  it('answers wrong usage with every mistake and status 2, and loads nothing', async () => {
    const words = ['lint', join(folder, 'never.cjs'), 'b', '--allow', 'nonsense', '--redis=x', '--json=yes']
    writeFileSync(join(folder, 'never.cjs'), 'process.exit(9)')
    const { status, output, remarks } = await run(words, {})
    expect({ status, output }).toEqual({ status: 2, output: '' })
    for (const mistake of [
      'b is one word',
      '--allow names nonsense',
      '--redis is not known',
      '--json takes no value',
    ])
      expect(remarks).toContain(`  - ${mistake}`)
    expect((await run(['lint', '--json'], {})).remarks).toContain('CONFIG is missing')
  })

  it('lets nothing in a configuration steer the terminal', async () => {
    const evil = String.raw`'a\u001b[31m'`
    const client = `{ client_id: ${evil}, client_type: 'public', redirect_uris: ['x:/'], scope: 'a' }`
    const clients = `{ find() {}, add() {}, update() {}, list: async () => [${client}] }`
    for (const words of [[], ['--json']]) {
      const { stdout, stderr } = await look(
        'evil.mjs',
        `export default { ${clean}, clients: ${clients} }`,
        ...words,
      )
      expect(stdout).toContain('client-refused')
      expect(stdout + stderr).not.toContain('\u001B')
    }
  })
})
