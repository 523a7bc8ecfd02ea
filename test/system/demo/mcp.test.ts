import type { Browser } from 'playwright-core'
import { announcement } from '../../../demo/announcement'
import { startDemo, type Demo } from '../../../demo/demo'
import { listen } from '../../../demo/listen'
import { keepScreenshot, pixelRatio } from '../../support/browser/keep-screenshot'
import { launchChromium } from '../../support/chromium'
import { freePorts } from '../../support/clients/free-ports'
import { runClient } from '../../support/mcp/run-client'
import { startDemoProcess, type DemoProcess } from './demo-process'
import { signIn } from './visit'

const tools = ['list_photos', 'add_photo', 'list_photos']
const given = { add_photo: { title: 'Late harvest' } }
const photos = expect.stringContaining('First light, Lofoten')

/** The headers of a browser in which the owner of the demo is signed in. */
async function signedIn(issuer: string, account: { username: string; password: string }) {
  const body = new URLSearchParams({ ...account, return_to: '' })
  const answer = await fetch(`${issuer}/login`, { method: 'POST', body, redirect: 'manual' })
  const cookies = answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
  return { cookie: cookies.join('; ') }
}

describe('the MCP server of the demo', () => {
  let demo: Demo
  beforeAll(async () => {
    demo = await startDemo({ ports: freePorts })
  })
  afterAll(() => demo.stop())

  // A client of the first generation with a refresh token cannot ask for more.
  test.each([
    [1, ['authorization_code']],
    [2, ['authorization_code', 'refresh_token']],
  ] as const)(
    'lets an unknown client of generation %s list photos, and add one after a step-up',
    async (generation, grantTypes) => {
      const redirectUri = 'http://127.0.0.1:3333/callback'
      const { results, requests, error } = await runClient({
        generation,
        server: demo.mcpServer,
        issuer: demo.authorizationServer,
        client: { kind: 'dynamic', redirectUri, grantTypes },
        owner: await signedIn(demo.authorizationServer, demo.account),
        tools,
        arguments: given,
      })
      expect(error).toBeUndefined()
      expect(results).toEqual([photos, 'Accepted: Late harvest', photos])
      // The newer SDK asks for what the metadata list, if it may refresh.
      const asked = requests.map((request) => request.get('scope')?.replace(' offline_access', ''))
      expect(asked).toEqual(['photos:read', 'photos:read photos:write'])
      expect(requests.map((request) => request.get('resource'))).toEqual([demo.mcpServer, demo.mcpServer])
    },
  )

  test('and the photo API take no tokens of each other', async () => {
    const { client_id, client_secret } = demo.clients.nightlyReport
    const statusAt = async (url: string, resource: string) => {
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id,
        client_secret,
        resource,
      })
      const answer = await fetch(`${demo.authorizationServer}/token`, { method: 'POST', body })
      const { access_token } = JSON.parse(await answer.text())
      const headers = { authorization: `Bearer ${access_token}` }
      return (await fetch(url, { headers })).status
    }
    const api = `${demo.resourceServer}/photos`
    expect(await statusAt(api, demo.resourceServer)).toBe(200)
    expect(await statusAt(api, demo.mcpServer)).toBe(401)
    expect(await statusAt(demo.mcpServer, demo.resourceServer)).toBe(401)
    expect(await statusAt(demo.mcpServer, demo.mcpServer)).not.toBe(401)
  })

  // Its package.json: "node": ">=22.19.0".
  test.each([
    ['20.20.2', false],
    ['22.18.0', false],
    ['22.19.0', true],
    ['24.0.0', true],
  ])('on Node %s is announced with a command for the MCP Inspector: %s', (node, runs) => {
    const printed = announcement(demo, 'memory', node)
    expect(printed.includes('npx @modelcontextprotocol/inspector --transport http')).toBe(runs)
    expect(printed.includes(`needs Node 22.19 or newer, and this is Node ${node}.`)).toBe(!runs)
  })

  describe('in Chromium', () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchChromium()
    })
    afterAll(() => browser.close())

    test('is what the consent page names, with a warning, before the answer goes to a program on this device', async () => {
      const program = await listen(0)
      program.app.get(
        '/oauth/callback',
        (_request, response) => void response.send('You may close this page.'),
      )
      const redirectUri = `${program.url}/oauth/callback`
      const registration = await fetch(`${demo.authorizationServer}/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          client_name: 'Notes for the desk',
          redirect_uris: [redirectUri],
          token_endpoint_auth_method: 'none',
        }),
      })
      const { client_id } = JSON.parse(await registration.text())
      const page = await browser.newPage({
        viewport: { width: 1280, height: 900 },
        deviceScaleFactor: pixelRatio,
      })
      const request = new URLSearchParams({
        response_type: 'code',
        client_id,
        redirect_uri: redirectUri,
        scope: 'photos:read photos:write',
        resource: demo.mcpServer,
        code_challenge: 'c'.repeat(43),
        code_challenge_method: 'S256',
      })
      await page.goto(`${demo.authorizationServer}/authorize?${request.toString()}`)
      await signIn(page, demo)
      await keepScreenshot(page, 'MCP consent')
      expect(await page.getByRole('definition').first().innerText()).toBe(
        `Lumen photos for AI clients ${demo.mcpServer}`,
      )
      expect(await page.locator('body').innerText()).toMatch(
        /Notes for the desk[^]*registered itself[^]*a program on this device/,
      )
      await page.getByLabel('Travels').check()
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.waitForURL(`${redirectUri}?code=*`)
      expect(await page.locator('body').innerText()).toBe('You may close this page.')
      await page.close()
      await program.close()
    })
  })
})

describe('npm run demo', () => {
  let demo: DemoProcess
  beforeAll(async () => {
    demo = await startDemoProcess({ PORT: '0' })
  })
  afterAll(() => demo.interrupt())

  test('prints a command by which mcp-remote reaches the MCP server, and every tool of it', async () => {
    const [, command = ''] = /^ {2}(.*npx mcp-remote .*)$/m.exec(demo.printed) ?? []
    const [, issuer = ''] = /Authorization server +(\S+)/.exec(demo.printed) ?? []
    const { results, error } = await runClient({
      generation: 'remote',
      command,
      server: '',
      issuer,
      client: { kind: 'dynamic', redirectUri: '' },
      owner: await signedIn(issuer, { username: 'ada', password: 'countess' }),
      tools,
      arguments: given,
    })
    expect(error).toBeUndefined()
    expect(results).toEqual([photos, 'Accepted: Late harvest', photos])
  })

  test('prints the commands for the MCP server that it names', () => {
    const [, server = ''] = /MCP server +(\S+)/.exec(demo.printed) ?? []
    const commands = demo.printed.split('\n').filter((line) => line.includes('npx '))
    expect(commands.length).toBeGreaterThan(0)
    for (const command of commands) expect(command).toMatch(new RegExp(` ${server}$`))
  })
})
