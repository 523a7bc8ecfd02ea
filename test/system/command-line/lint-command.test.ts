import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../../lib/command-line/run'
import { rules } from '../../../lib/command-line/lint'
import { bundled } from '../../support/bundled'
import { commandLine } from '../../support/command-line'

const root = join(__dirname, '../../..')
const suite = JSON.stringify(bundled(join(root, 'test/support/whole-suite.ts')))

interface Outcome {
  readonly status: number
  readonly output: string
  readonly remarks: string
}

let folder: string
let running: ChildProcess
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lint-command-'))
  // Not in this process: Jest imports no modules at run time.
  running = fork(bundled(join(__dirname, 'command-process.ts')))
})
afterAll(() => {
  running.kill()
  rmSync(folder, { recursive: true })
})

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

async function lint(...words: readonly string[]): Promise<Outcome> {
  running.send(['lint', ...words])
  const [outcome] = await once(running, 'message')
  return outcome
}

/** Writes a configuration and looks at it. */
const look = (name: string, text: string, ...words: readonly string[]) => lint(write(name, text), ...words)

const clean = `issuer: 'https://login.example', scopes: { a: 'A' }, resourceOwner: () => 'ada',
  store: { read() {}, write() {}, remove() {}, add() {}, list() {} },
  clients: [{ client_id: 'wall', client_type: 'public', redirect_uris: ['https://wall.example/'], scope: 'a' }]`

describe('lint CONFIG', () => {
  it('says that nothing was found, and ends with 0', async () => {
    expect(await look('clean.mjs', `export default { ${clean} }`)).toEqual({
      status: 0,
      output: '',
      remarks: `0 errors, 0 warnings in ${rules.length} rules and 1 client.`,
    })
  })

  it('prints findings as a table and as sentences, and exits with 1', async () => {
    const { status, output, remarks } = await look(
      'poor.mjs',
      `export const options = { ${clean}, pkce: 'none' }`,
    )
    expect(status).toBe(1)
    expect(output).toMatch(
      /^severity +rule +path +client +source\nerror +pkce-off +pkce +- +RFC 9700 2\.1\.1\n\n/,
    )
    expect(output).toContain('\npkce-off: An intercepted or injected code')
    expect(remarks).toContain('1 error, 0 warnings')
  })

  it('answers with JSON alone when asked to, and leaves out what is allowed', async () => {
    const poor = `module.exports = async () => ({ ${clean}, pkce: 'none', lifetimes: { refreshTokenGrace: 300 }, storeDeadline: 60 })`
    const { status, output } = await look(
      'f.cjs',
      poor,
      '--json',
      '--allow',
      'pkce-off',
      '--allow=store-deadline',
    )
    expect(status).toBe(1)
    expect(JSON.parse(output)).toEqual([
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
    const { status, output } = await look('wrong.cjs', wrong, '--json')
    expect(status).toBe(2)
    const found: readonly { readonly path: string }[] = JSON.parse(output)
    expect(found.map(({ path }) => path)).toEqual(['issuer', 'pkce', 'clientz'])
    expect((await look('wrong.cjs', wrong)).output).toMatch(/^error +configuration +issuer +This must be/m)
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
    const { status, output, remarks } = await look(name, text)
    expect(status).toBe(2)
    expect(output + remarks).toContain(why)
    expect(output + remarks).not.toContain('    at ')
  })

  it.each([
    ['a name that Node does not load', 'options.tsx', `export const options: object = { ${clean} }`],
    ['what is more than types', 'enum.cts', `enum A { B }; module.exports = { ${clean} }`],
  ])('names the way for TypeScript: %s', async (_, name, text) => {
    const { status, remarks } = await look(name, text)
    expect(status).toBe(2)
    expect(remarks).toContain(
      `\nNODE_OPTIONS='--import tsx' npx express-authorization-server lint ${join(folder, name)}`,
    )
  })

  it('names no way for TypeScript where there is no such file', async () => {
    const { status, remarks } = await lint(join(folder, 'missing.ts'))
    expect(status).toBe(2)
    expect(remarks).not.toContain('tsx')
  })

  it('looks at plain data', async () => {
    const { status, output, remarks } = await look(
      'plain.json',
      JSON.stringify({
        issuer: 'https://login.example',
        scopes: { a: 'A' },
        clients: [{ client_id: 'x', client_type: 'public', redirect_uris: ['x:/'], scope: 'a' }],
      }),
    )
    expect(status).toBe(1)
    expect(output).toMatch(
      /^warning +redirect-uri-scheme-without-dot +clients\[0\]\.redirect_uris\[0\] +x +RFC/m,
    )
    expect(output).not.toContain('memory-')
    expect(remarks).toContain('JSON holds no store')
  })

  it('is a program that ends although the configuration opened something, and closes the store', async () => {
    const text = `const { redisStore, registeredClients } = require(${suite})
      setInterval(() => {}, 1000)
      const store = redisStore({ url: 'redis://127.0.0.1:1' })
      const { close } = store
      store.close = () => { process.stderr.write('closed\\n'); return close.call(store) }
      module.exports.options = { ${clean}, store, clients: registeredClients(store) }`
    const { status, stderr } = await commandLine(['lint', write('redis.cjs', text)])
    expect(status).toBe(0)
    expect(stderr).toContain('closed\n')
    expect(stderr).toContain('Clients were not checked: the store of clients does not answer.')
  })

  it('finds no error in the server of the README', async () => {
    const server = readFileSync(join(root, 'docs/examples/server.ts'), 'utf8')
    const [, options = ''] = /createAuthorizationServer\((\{.*?\n\})\)/s.exec(server) ?? []
    // Where it is run, there is no package.
    const inMemory = options.replace(/^ {2}store: storeFrom.*\n/m, '')
    const [callback] = /^const callback = .*$/m.exec(server) ?? []
    const { status, output } = await look('readme.mjs', `${callback}\nexport default ${inMemory}`, '--json')
    expect(status).toBe(1)
    const found: readonly { readonly rule: string; readonly severity: string }[] = JSON.parse(output)
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
      for (const { rule, severity, source } of rules)
        expect(output).toMatch(new RegExp(`^${rule} +${severity} +.* ${source}$`, 'm'))
    },
  )

  it('is named by --help', async () => {
    expect((await run(['--help'], {})).output).toContain('express-authorization-server lint CONFIG')
  })

  it('answers wrong usage with every mistake and status 2, and loads nothing', async () => {
    const words = ['lint', join(folder, 'never.cjs'), 'b', '--allow', 'nonsense', '--store=x', '--json=yes']
    writeFileSync(join(folder, 'never.cjs'), 'process.exit(9)')
    const { status, output, remarks } = await run(words, {})
    expect({ status, output }).toEqual({ status: 2, output: '' })
    for (const mistake of [
      'b is one word',
      '--allow names nonsense',
      '--store is not known',
      '--json takes no value',
    ])
      expect(remarks).toContain(`  - ${mistake}`)
    expect((await run(['lint', '--json'], {})).remarks).toContain('CONFIG is missing')
  })

  it('lets nothing in a configuration steer the terminal', async () => {
    const evil = String.raw`'a\u001b[31m'`
    const client = `{ client_id: ${evil}, client_type: 'public', redirect_uris: ['x:/'], scope: 'a' }`
    const read = `async () => ({ value: JSON.stringify({ registration: ${client} }), version: 'v' })`
    // As another copy of the package makes it.
    const clients = `{ find() {}, store: { read: ${read}, write() {}, remove() {}, add() {}, list: async () => ['a'] } }`
    for (const words of [[], ['--json']]) {
      const { output, remarks } = await look(
        'evil.mjs',
        `export default { ${clean}, clients: ${clients} }`,
        ...words,
      )
      expect(output).toContain('client-refused')
      expect(output + remarks).not.toContain('\u001B')
    }
  })
})
