import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAuthorizationServer, ConfigurationError } from 'express-authorization-server'

const root = join(__dirname, '../../..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const options = readFileSync(join(root, 'docs/options.md'), 'utf8')
/** What the reader opens, and what the reader sends with the code. */
const address = /^http:\/\/localhost:3000(\/authorize\?\S+)$/m.exec(readme)?.[1] ?? ''
const redemption = Object.fromEntries(
  [...readme.matchAll(/ -d (\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
)
const server = readFileSync(join(root, 'docs/examples/server.ts'), 'utf8')

test('the server in the README is the file that the tests run, in at most 15 lines', () => {
  expect(readme).toContain(`\`\`\`ts\n${server}\`\`\``)
  expect(server.trimEnd().split('\n').length).toBeLessThanOrEqual(15)
})

test('the page of options names every option and no other', () => {
  const named = [...options.matchAll(/^\| `(\w+(?:\.\w+)?)`/gm)].map(([, name = '']) => name)
  expect(named.toSorted()).toEqual(knownOptions())
})

test('the server in the README grants a code for its address, a token for its form, and admits the token', async () => {
  const execArgv = ['-r', 'esbuild-register', '-r', './test/support/tell-port.js']
  const running = fork('docs/examples/server.ts', {
    cwd: root,
    env: { ...process.env, PORT: '0' },
    execArgv,
  })
  try {
    const [port] = await once(running, 'message')
    const origin = `http://127.0.0.1:${port}`
    const page = await (await fetch(`${origin}${address}`)).text()
    const consentToken = /name="authorization_request" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const approval = await post(`${origin}/authorize`, {
      authorization_request: consentToken,
      decision: 'approve',
    })
    const code = new URL(approval.headers.get('location') ?? '').searchParams.get('code') ?? ''
    const tokens: unknown = await (await post(`${origin}/token`, { ...redemption, code })).json()
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'photos:read' })
    const headers = { authorization: `Bearer ${Object(tokens).access_token}` }
    expect(await (await fetch(`${origin}/photos`, { headers })).json()).toEqual({ of: 'ada' })
    expect((await fetch(`${origin}/photos`)).status).toBe(401)
  } finally {
    running.kill()
  }
})

function post(url: string, form: Record<string, string>): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })
}

const groups = ['lifetimes', 'limits', 'pages', 'paths']

/** The names with which a misspelt option is answered, those of a group with its name. */
function knownOptions(): string[] {
  const misspelt = Object.fromEntries(groups.map((group) => [group, { misspelt: 1 }]))
  try {
    createAuthorizationServer(JSON.parse(JSON.stringify({ misspelt: 1, ...misspelt })))
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return error.issues
      .filter(({ path }) => path.endsWith('misspelt'))
      .flatMap(({ path, message }) => namesIn(message).map((name) => path.replace('misspelt', name)))
      .filter((name) => !groups.includes(name))
      .toSorted()
  }
  throw new Error('A misspelt option was accepted.')
}

function namesIn(message: string): string[] {
  return message
    .replace(/^.*known names are /, '')
    .replace(/\.$/, '')
    .split(', ')
}
