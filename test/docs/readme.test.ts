import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAuthorizationServer, ConfigurationError } from 'express-authorization-server'

const root = join(__dirname, '../..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const options = readFileSync(join(root, 'docs/options.md'), 'utf8')
const server = readFileSync(join(root, 'docs/examples/server.ts'), 'utf8')

test('the server in the README is the file that the tests run, in at most 15 lines', () => {
  expect(readme).toContain(`\`\`\`ts\n${server}\`\`\``)
  expect(server.trimEnd().split('\n').length).toBeLessThanOrEqual(15)
})

test('the page of options names every option and no other', () => {
  const named = [...options.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name)
  expect(named.toSorted()).toEqual(knownOptions())
})

test('the server in the README grants a code with consent, and its guard admits the token', async () => {
  const execArgv = ['-r', 'esbuild-register', '-r', './test/support/tell-port.js']
  const running = fork('docs/examples/server.ts', {
    cwd: root,
    env: { ...process.env, PORT: '0' },
    execArgv,
  })
  try {
    const [port] = await once(running, 'message')
    const origin = `http://127.0.0.1:${port}`
    const verifier = 'v'.repeat(43)
    const page = await (await fetch(`${origin}/authorize?${request(verifier).toString()}`)).text()
    const handle = /name="authorization_request" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const approval = await post(`${origin}/authorize`, { authorization_request: handle, decision: 'approve' })
    const code = new URL(approval.headers.get('location') ?? '').searchParams.get('code') ?? ''
    const redemption = { grant_type: 'authorization_code', code, client_id: 'album', code_verifier: verifier }
    const tokens: unknown = await (await post(`${origin}/token`, redemption)).json()
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'photos:read' })
    const headers = { authorization: `Bearer ${Object(tokens).access_token}` }
    expect(await (await fetch(`${origin}/photos`, { headers })).json()).toEqual({ of: 'ada' })
    expect((await fetch(`${origin}/photos`)).status).toBe(401)
  } finally {
    running.kill()
  }
})

function request(verifier: string): URLSearchParams {
  const code_challenge = createHash('sha256').update(verifier).digest('base64url')
  const pkce = { code_challenge, code_challenge_method: 'S256' }
  return new URLSearchParams({ response_type: 'code', client_id: 'album', scope: 'photos:read', ...pkce })
}

function post(url: string, form: Record<string, string>): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })
}

// The list that a misspelt option is answered with.
function knownOptions(): string[] {
  try {
    createAuthorizationServer(JSON.parse('{ "misspelt": true }'))
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    const message = error.issues.find(({ path }) => path === 'misspelt')?.message ?? ''
    return message
      .replace(/^.*known names are /, '')
      .replace(/\.$/, '')
      .split(', ')
      .toSorted()
  }
  throw new Error('A misspelt option was accepted.')
}
