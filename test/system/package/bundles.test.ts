import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateClientSecret } from '../../../lib/index'
import { basic } from '../../support/flows/flow'
import { startRedis } from '../../support/redis-server'
import { requireNode } from '../../support/nodes'
import { onSqlite, smallest, withBcrypt, withJose } from './bundled-servers'
import { PackedPackage } from './packed-package'

const root = join(__dirname, '../../..')
const esbuild = join(root, 'node_modules/.bin/esbuild')
const guide = readFileSync(join(root, 'docs/guides/bundles-and-functions.md'), 'utf8')
const example = readFileSync(join(root, 'docs/examples/function.ts'), 'utf8')

const guests =
  /^\/\/ lib\/(?:command-line|device-authorization|dpop|form-post|legacy-tokens|openid-connect|pushed-requests|request-objects|stores\/(?:redis|sqlite|postgres)|testing|token-endpoint\/grant-types\/(?!built-in)).*/m

interface Metafile {
  readonly outputs: Readonly<
    Record<string, { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }>
  >
}

let packed: PackedPackage
beforeAll(() => {
  packed = new PackedPackage()
})
afterAll(() => packed.remove())

/** Bundles a program of an application that has these packages; the file stands where no package is. */
function bundle(name: string, program: string, packages: readonly string[], words: readonly string[] = []) {
  const application = packed.application(name, ['express', ...packages])
  writeFileSync(join(application, 'function.ts'), program)
  const outside = packed.emptyFolder(`${name}-outside`)
  const options = ['--bundle', '--platform=node', `--outfile=${join(outside, 'function.js')}`, ...words]
  const { status, stderr } = spawnSync(esbuild, ['function.ts', ...options, '--log-level=warning'], {
    cwd: application,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return outside
}

function run(
  folder: string,
  words: readonly string[] = ['function.js'],
  env: NodeJS.ProcessEnv = {},
  node = process.execPath,
) {
  const { stdout, stderr } = spawnSync(node, ['--no-deprecation', ...words], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  return stdout + stderr
}

describe('A bundle', () => {
  test('of the smallest server needs no optional package, and no package beside itself', () => {
    expect(run(bundle('smallest', smallest, []))).toBe('200 200 1\n')
  })

  test('of the smallest server has no guest in it, no jose, and at most 600 kB of the package', () => {
    const folder = bundle('measured', smallest, [], ['--minify', '--metafile=metafile.json'])
    const metafile = readFileSync(join(folder, '../measured/metafile.json'), 'utf8')
    const { outputs }: Metafile = JSON.parse(metafile)
    const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs))
    const own = inputs.filter(([path]) => path.includes('express-authorization-server/dist/'))
    expect(inputs.filter(([path]) => path.includes('/jose/'))).toEqual([])
    const written = own.map(([path]) => readFileSync(join(folder, '../measured', path), 'utf8')).join('\n')
    // The bundler of the package names each file above its code.
    expect(written).toMatch(/^\/\/ lib\/http\//m)
    expect(written.match(guests)).toBeNull()
    const bytes = own.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0)
    expect(bytes).toBeLessThan(600_000)
  })

  test('of a server with JWTs has jose inside', () => {
    expect(run(bundle('jose', withJose, []))).toBe('200 200 3\n')
  })

  test('that is minified runs a server in production on a file of SQLite', () => {
    const folder = bundle('sqlite', onSqlite, [], ['--minify', '--keep-names'])
    const env = { NODE_ENV: 'production' }
    expect(run(folder, ['function.js'], env, requireNode(24))).toBe('200 200 1\n')
  })

  test('needs bcrypt beside itself if a listed client has a digest of it, and says so at the start', () => {
    expect(run(bundle('bcrypt-inside', withBcrypt, []))).toContain(
      'bcrypt cannot be loaded. A bundle must leave it out',
    )
    const outside = bundle('bcrypt-beside', withBcrypt, [], ['--external:bcrypt'])
    mkdirSync(join(outside, 'node_modules'))
    packed.install(outside, ['bcrypt'])
    // No secret belongs to the digest.
    expect(run(outside)).toBe('401 401 1\n')
  })
})

describe('The guide of bundles', () => {
  test('shows the file that the tests run', () => {
    expect(guide).toContain(`\`\`\`ts\n${example}\`\`\``)
  })

  test('has a function that answers events once it is bundled as the guide says', async () => {
    const redis = await startRedis()
    const { client_secret, client_secret_hash } = generateClientSecret()
    const outside = bundle('function', example, ['ioredis', 'serverless-http'])
    copyFileSync(join(__dirname, 'invoke.cjs'), join(outside, 'invoke.cjs'))
    const output = run(outside, ['invoke.cjs', basic('nightly', client_secret)], {
      REDIS_URL: redis.url,
      NIGHTLY_SECRET_HASH: client_secret_hash,
    })
    await redis.stop()
    expect(output).toBe('200 {"reports":["monday","tuesday"],"readBy":"nightly"}\n')
  })
})
