import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as source from '../../../lib/index'
import * as sourceOfTesting from '../../../lib/testing/index'

const root = join(__dirname, '../../..')
const packages = join(root, 'node_modules')

let folder: string
beforeAll(() => {
  // Below node_modules, so that its dependencies are found; a package finds itself by its own name.
  mkdirSync(join(packages, '.cache'), { recursive: true })
  folder = mkdtempSync(join(packages, '.cache/built-package-'))
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  const rolldown = join(packages, '.bin/rolldown')
  execFileSync(rolldown, ['-c', 'rolldown.config.ts', '--dir', join(folder, 'dist')], { cwd: root })
})
afterAll(() => rmSync(folder, { recursive: true }))

/** What a program beside the package says; it has to end well. */
function said(file: string, program: string): unknown {
  writeFileSync(join(folder, file), program)
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd: folder, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return JSON.parse(stdout)
}

const name = 'express-authorization-server'

describe('the built package', () => {
  it.each([
    ['required', 'names.cjs', `const suite = require('${name}'), testing = require('${name}/testing')`],
    ['imported', 'names.mjs', `import * as suite from '${name}'; import * as testing from '${name}/testing'`],
  ])('has all that the source exports when it is %s', (_how, file, load) => {
    const output = said(
      file,
      `${load}; console.log(JSON.stringify([Object.keys(suite), Object.keys(testing)]))`,
    )
    expect(output).toEqual([
      expect.arrayContaining(Object.keys(source)),
      expect.arrayContaining(Object.keys(sourceOfTesting)),
    ])
  })

  it('loads a handful of files, and no package that it may never need', () => {
    const loaded = said(
      'loaded.cjs',
      `require('${name}'); console.log(JSON.stringify(Object.keys(require.cache)))`,
    )
    if (!Array.isArray(loaded)) throw new Error('a list of files is expected')
    const own = loaded.filter((file) => String(file).startsWith(join(folder, 'dist')))
    expect(own.length).toBeLessThan(6)
    const foreign = /node_modules\/(express|express-rate-limit|ioredis|jose|@xmldom|xml-crypto)\//
    expect(loaded.filter((file) => foreign.test(String(file).replace(folder, '')))).toEqual([])
  })

  it('is one suite to all its entries: what one throws, the others know', () => {
    writeFileSync(
      join(folder, 'mistaken.cjs'),
      `const { password } = require('${name}')
      exports.options = { get issuer() { password({}) } }`,
    )
    const main = join(folder, 'dist/command-line/main.js')
    const { status, stdout } = spawnSync(process.execPath, [main, 'lint', 'mistaken.cjs', '--json'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(status).toBe(2)
    expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ path: 'verify' })])
  })

  it.each([
    ['required', 'production.cjs', `require('${name}/testing')`],
    ['imported', 'production.mjs', `import '${name}/testing'`],
  ])('has a testing kit that does not load in production, %s', (_how, file, load) => {
    writeFileSync(join(folder, file), load)
    const env = { ...process.env, NODE_ENV: 'production' }
    const { status, stderr } = spawnSync(process.execPath, [file], { cwd: folder, env, encoding: 'utf8' })
    expect(status).toBe(1)
    expect(stderr).toContain(`${name}/testing does not load if NODE_ENV is production`)
  })

  it('issues a token and guards a route with it, behind the server that it makes', () => {
    expect(
      said(
        'flow.cjs',
        `const { createAuthorizationServer, createServer, generateClientSecret } = require('${name}')
        const { client_secret, client_secret_hash } = generateClientSecret()
        const oauth = createAuthorizationServer({
          issuer: 'http://localhost', scopes: { photos: 'See your photos' },
          clients: [{ client_id: 'cli', client_type: 'confidential', scope: 'photos',
            client_secret_hashes: [client_secret_hash], grant_types: ['client_credentials'] }],
        })
        const app = require('express')()
        app.use(oauth.router())
        app.get('/photos', oauth.bearerGuard('photos'), (request, response) => response.json(['sea']))
        const server = createServer(app).listen(0, '127.0.0.1', async () => {
          const at = 'http://127.0.0.1:' + server.address().port
          const authorization = 'Basic ' + Buffer.from('cli:' + client_secret).toString('base64')
          const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'photos' })
          const answer = await fetch(at + '/token', { method: 'POST', headers: { authorization }, body })
          const { access_token } = await answer.json()
          const headers = { authorization: 'Bearer ' + access_token }
          const photos = await fetch(at + '/photos', { headers })
          console.log(JSON.stringify([answer.status, photos.status, await photos.json()]))
          server.closeAllConnections()
          server.close()
          await oauth.close()
        })`,
      ),
    ).toEqual([200, 200, ['sea']])
  })
})
