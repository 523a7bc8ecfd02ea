import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../support/mcp/free-port'

const root = join(__dirname, '../../..')
const page = readFileSync(join(root, 'docs/guides/pushed-requests.md'), 'utf8')
const program = 'docs/examples/pushed-requests.ts'

test('the guide of pushed requests shows the program that the tests run, and how to start it', () => {
  expect(page).toContain(`\`\`\`ts\n${readFileSync(join(root, program), 'utf8')}\`\`\``)
  expect(page).toContain('`node server.mjs`')
})

describe('the server of the guide', () => {
  let running: ChildProcess
  let issuer: string
  beforeAll(async () => {
    const port = await freePort()
    issuer = `http://localhost:${port}`
    running = fork(program, {
      cwd: root,
      env: { ...process.env, ISSUER: issuer, PORT: String(port) },
      execArgv: ['-r', 'esbuild-register', '-r', './test/support/tell-port.js'],
    })
    await once(running, 'message')
  })
  afterAll(async () => {
    running.kill()
    await once(running, 'exit')
  })

  test('takes the request of the guide, and shows the consent page for it', async () => {
    const [, sent = ''] = /curl http:\/\/localhost:3000\/par (.*)/.exec(page) ?? []
    const body = new URLSearchParams(sent.replaceAll('-d ', '').split(' ').join('&'))
    const answer = await fetch(`${issuer}/par`, { method: 'POST', body })
    expect(answer.status).toBe(201)
    const { request_uri }: Readonly<Record<string, string>> = JSON.parse(await answer.text())
    const query = new URLSearchParams({ client_id: 'album', request_uri: String(request_uri) })
    const consent = await fetch(`${issuer}/authorize?${query.toString()}`)
    expect(await consent.text()).toContain('See your photos')
    expect((await fetch(`${issuer}/authorize?${body.toString()}`)).status).toBe(400)
  })
})
