import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { follow, press } from '../../support/browser/follow'
import { launchChromium } from '../../support/chromium'
import { freePort } from '../../support/mcp/free-port'

const root = join(__dirname, '../../..')
const page = readFileSync(join(root, 'docs/guides/openid-connect.md'), 'utf8')

test.each(['openid-connect.ts', 'relying-party.ts'])(
  'the guide of OpenID Connect shows %s, which the tests run',
  (file) => {
    expect(page).toContain(`\`\`\`ts\n${readFileSync(join(root, 'docs/examples', file), 'utf8')}\`\`\``)
  },
)

test('the guide names the address of its client, and the commands that start its programs', () => {
  expect(page).toContain('`http://127.0.0.1:4000`')
  for (const command of ['`node server.mjs`', '`node client.mts`']) expect(page).toContain(command)
})

describe('the server and the client of the guide', () => {
  const closing: (() => unknown)[] = []
  let client: string
  let issuer: string
  let browser: Browser
  beforeAll(async () => {
    issuer = `http://localhost:${await freePort()}`
    client = `http://127.0.0.1:${await freePort()}`
    const execArgv = ['-r', 'esbuild-register', '-r', './test/support/tell-port.js']
    const env = { ...process.env, ISSUER: issuer, CALLBACK: `${client}/callback`, PORT: new URL(issuer).port }
    for (const file of ['openid-connect.ts', 'relying-party.ts']) {
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

  test('log a person in: the link, the consent page, and the name', async () => {
    const tab = await browser.newPage()
    await tab.goto(client)
    await follow(tab, () => tab.getByRole('link').click())
    await tab.getByText('See your e-mail address').waitFor()
    await press(tab, 'Allow')
    expect(tab.url()).toBe(`${client}/`)
    expect(JSON.parse(await tab.locator('body').innerText())).toEqual({ id: 'u-1815', name: 'Ada Lovelace' })
    await tab.close()
  })

  test('send a browser that asked for no login back to the link', async () => {
    const answer = await fetch(`${client}/callback?code=stolen`, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/'])
  })
})
