import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { press } from '../../support/browser/follow'
import { launchChromium } from '../../support/chromium'
import { freePort } from '../../support/mcp/free-port'

const root = join(__dirname, '../../..')
const page = readFileSync(join(root, 'docs/guides/request-objects.md'), 'utf8')

test.each(['request-objects.ts', 'signing-client.ts'])(
  'the guide of request objects shows %s, which the tests run',
  (file) => {
    expect(page).toContain(`\`\`\`ts\n${readFileSync(join(root, 'docs/examples', file), 'utf8')}\`\`\``)
  },
)

describe('the server and the client of the guide', () => {
  const closing: (() => unknown)[] = []
  let client: string
  let issuer: string
  let browser: Browser
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keys-'))
    closing.push(() => rmSync(folder, { recursive: true }))
    const [, command = ''] = /^node -e "(.*)"$/m.exec(page) ?? []
    execFileSync(process.execPath, ['-e', command], { cwd: folder })
    issuer = `http://localhost:${await freePort()}`
    client = `http://127.0.0.1:${await freePort()}`
    const execArgv = ['-r', 'esbuild-register', '-r', './test/support/tell-port.js']
    const callback = { CALLBACK: `${client}/callback`, PORT: new URL(issuer).port }
    const env = { ...process.env, ISSUER: issuer, KEYS: folder, ...callback }
    for (const file of ['request-objects.ts', 'signing-client.ts']) {
      const running = fork(`docs/examples/${file}`, { cwd: root, env, execArgv })
      closing.push(async () => {
        running.kill()
        await once(running, 'exit')
      })
      await once(running, 'message')
    }
    browser = await launchChromium()
    closing.push(() => browser.close())
  })
  afterAll(async () => {
    for (const close of closing.toReversed()) await close()
  })

  test('give access by a signed request and a form, and openid-client takes both', async () => {
    const tab = await browser.newPage()
    const responses: string[] = []
    tab.on('request', (request) => {
      if (request.url().startsWith(`${client}/callback`))
        responses.push(`${request.method()} ${request.url()}`)
    })
    await tab.goto(client)
    expect(new URL(tab.url()).searchParams.get('state')).toBeNull()
    await tab.getByText('See your photos').waitFor()
    await press(tab, 'Allow')
    await tab.waitForURL(`${client}/callback`)
    expect(JSON.parse(await tab.locator('body').innerText())).toEqual({ scope: 'photos:read' })
    expect(responses).toEqual([`POST ${client}/callback`])
    await tab.close()
  })

  test('refuse the same request without a signature', async () => {
    const plain = { client_id: 'album', response_type: 'code', scope: 'photos:read' }
    const answer = await fetch(`${issuer}/authorize?${new URLSearchParams(plain).toString()}`)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('invalid_request')
  })
})
