import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { freePort } from '../../support/mcp/free-port'

const root = join(__dirname, '../../..')
const page = readFileSync(join(root, 'docs/guides/jwt-access-tokens.md'), 'utf8')
const example = readFileSync(join(root, 'docs/examples/jwt-access-tokens.ts'), 'utf8')

test('the guide of JWT access tokens shows the file that the tests run', () => {
  expect(page).toContain(`\`\`\`ts\n${example}\`\`\``)
})

test('the server of the guide prints a command that gets a JWT, which its API and any verifier take', async () => {
  const [issuer, port] = [`http://localhost:${await freePort()}`, await freePort()]
  const running = fork('docs/examples/jwt-access-tokens.ts', {
    cwd: root,
    env: { ...process.env, ISSUER: issuer, PORT: String(port) },
    execArgv: ['-r', 'esbuild-register'],
    silent: true,
  })
  try {
    const [line]: unknown[] = running.stdout === null ? [] : await once(running.stdout, 'data')
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', String(line)])
    const { access_token: token } = JSON.parse(stdout)

    const open = (headers: Record<string, string>) => fetch(`http://localhost:${port}/photos`, { headers })
    const response = await open({ authorization: `Bearer ${token}` })
    expect([response.status, await response.json()]).toEqual([200, { for: 'job' }])
    expect((await open({})).status).toBe(401)

    // The table for gateways.
    const metadata = await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json()
    const keySet = `${issuer}/.well-known/jwks.json`
    expect(metadata).toMatchObject({ jwks_uri: keySet })
    const keys = createRemoteJWKSet(new URL(keySet))
    const told = { issuer, audience: 'https://api.example.com', typ: 'at+jwt', algorithms: ['ES256'] }
    const { payload } = await jwtVerify(token, keys, told)
    expect(payload).toMatchObject({ scope: 'photos:read', client_id: 'job', sub: 'job' })
    expect((await fetch(keySet)).headers.get('cache-control')).toBe('public, max-age=600')
  } finally {
    running.kill()
    await once(running, 'exit')
  }
})
