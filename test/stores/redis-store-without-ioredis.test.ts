import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync } from 'esbuild'

// The store alone in a directory in which no package is installed.
describe('redisStore where ioredis is not installed', () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'redis-store-'))
    buildSync({
      entryPoints: [join(__dirname, '../../lib/stores/redis/redis-store.ts')],
      outfile: join(directory, 'redis-store.js'),
      bundle: true,
      platform: 'node',
      external: ['ioredis'],
    })
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  function run(source: string): { status: number | null; output: string } {
    const words = ['-e', `const { redisStore } = require('./redis-store.js'); ${source}`]
    const options = { cwd: directory, encoding: 'utf8', timeout: 120_000 } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, words, options)
    return { status, output: stdout + stderr }
  }

  it('says so in one sentence with both cures when it is to make a connection, and keeps the cause', () => {
    const { status, output } = run(`
      try {
        redisStore({ url: 'redis://127.0.0.1' })
      } catch ({ message, cause }) {
        console.log(message)
        console.log(cause.code)
      }
    `)
    expect(output).toBe(
      'redisStore({ url }) cannot connect:\n' +
        '  - ioredis is not installed: run "npm install ioredis", or pass redisStore({ client }).\n' +
        'MODULE_NOT_FOUND\n',
    )
    expect(status).toBe(0)
  })

  it('works all the same over a client of the host', () => {
    const { output } = run(`
      const client = { call: async (command) => console.log(command) }
      redisStore({ client }).find('an id').then(console.log)
    `)
    expect(output).toBe('GET\nundefined\n')
  })
})
