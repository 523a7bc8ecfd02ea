import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { audience, claimsAt, hub, issuers, jwt } from '../../../support/assertions/jwt'
import { noon } from '../../../support/authorization/issue-context'

const root = join(__dirname, '../../../..')

// The grant type alone, as a CommonJS file in a directory in which no package is installed.
describe('jwtBearer() in plain Node', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'jwt-bearer-'))
    buildSync({
      entryPoints: [join(root, 'lib/token-endpoint/grant-types/jwt-bearer/jwt-bearer.ts')],
      outfile: join(directory, 'jwt-bearer.js'),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      external: ['jose'],
    })
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  function run(source: string): string {
    const prologue = `
      const { jwtBearer } = require('./jwt-bearer.js')
      const options = { issuers: ${JSON.stringify(issuers)}, audience: '${audience}', resourceOwner: () => 'alice' }
    `
    const options = { cwd: directory, encoding: 'utf8', timeout: 120_000 } as const
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', prologue + source], options)
    return stdout + stderr
  }

  it('says at construction that jose is not installed, with the cure, and keeps the cause', () => {
    const output = run(`
      try {
        jwtBearer(options)
      } catch ({ message, cause }) {
        console.log(message)
        console.log(cause.code)
      }
    `)
    expect(output).toBe(
      'jwtBearer() cannot verify signatures:\n' +
        '  - jose is not installed: run "npm install jose".\n' +
        'MODULE_NOT_FOUND\n',
    )
  })

  it('takes jose in as the ES module that it is', () => {
    mkdirSync(join(directory, 'node_modules'))
    symlinkSync(join(root, 'node_modules/jose'), join(directory, 'node_modules/jose'))
    const output = run(`
      const values = { assertion: '${jwt(hub, claimsAt(noon))}', scope: 'a' }
      const request = {
        client: { scope: ['a'] },
        parameters: { require: (name) => values[name], get: (name) => values[name] },
        context: { now: ${noon} },
        counters: { useOnce: async (key, seconds) => seconds === 330 },
      }
      jwtBearer(options).handle(request).then(({ grant }) => console.log(grant.subject), console.error)
    `)
    expect(output).toBe('alice\n')
  })
})
