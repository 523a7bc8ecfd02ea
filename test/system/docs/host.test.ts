import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import express from 'express'
import type { Browser, Page } from 'playwright-core'
import request from 'supertest'
import type { ConsentScope, ConsentView } from '../../../lib/index'
import { launchChromium } from '../../support/chromium'
import { codeChallenge } from '../../support/flows/proof-key'
import { freePort } from '../../support/mcp/free-port'
import { startServer } from '../../support/rooms/start-server'

const root = join(__dirname, '../../..')
const examples = join(root, 'docs/examples')
const page = readFileSync(join(root, 'docs/guides/add-to-your-application.md'), 'utf8')

test('the guide shows the application that the tests run, and leads to its views', () => {
  expect(page).toContain(`\`\`\`ts\n${readFileSync(join(examples, 'host.ts'), 'utf8')}\`\`\``)
  for (const view of readdirSync(join(examples, 'views')))
    expect(page).toContain(`(../examples/views/${view})`)
})

const withViews = () => express().set('view engine', 'ejs').set('views', join(examples, 'views'))
const consentScope = (
  changed: Pick<ConsentScope, 'token' | 'description'> & Partial<ConsentScope>,
): ConsentScope => ({
  group: undefined,
  weight: 'read',
  field: undefined,
  allowedBefore: false,
  ...changed,
})
const view: ConsentView = {
  service: {},
  language: { tag: 'en', dir: 'ltr' },
  switchAccount: undefined,
  question: undefined,
  obstacle: undefined,
  manageAt: undefined,
  client: { client_id: 'x', client_name: '<script>', unregistered: { host: 'notes.example' } },
  resourceOwner: { subject: 'u', name: '"><b>' },
  scope: [consentScope({ token: 'photos:read', description: 'See <i>your</i> photos' })],
  facts: [{ name: 'resource', label: 'For', values: [{ value: 'https://a.example', description: 'Album' }] }],
  action: '?',
  fields: { authorization_request: 'ar_"1' },
  redirectTo: 'com.example.app:/cb',
  receiver: 'app',
}

test('the template of the consent page escapes every text, and shows facts and the host of an unregistered client', async () => {
  const app = withViews().get('/', (_request, response) => response.render('consent', { view }))
  const { status, text } = await request(app).get('/')
  expect(status).toBe(200)
  for (const shown of [
    '&lt;script&gt;',
    '&#34;&gt;&lt;b&gt;',
    'See &lt;i&gt;your&lt;/i&gt; photos',
    'For: <bdi>Album',
    'notes.example',
    'value="ar_&#34;1"',
    'Cancel unless you have just started it yourself.',
  ])
    expect(text).toContain(shown)
})

test('the template shows groups, dangerous scopes last, boxes without a tick, the question, and the link for another account', async () => {
  const full = {
    ...view,
    switchAccount: '?prompt=select_account&x=1',
    scope: [
      consentScope({ token: 'c', description: 'Burn', weight: 'danger', group: 'Photos', field: 'scope:c' }),
      consentScope({ token: 'a', description: 'Look', group: 'Photos' }),
      consentScope({ token: 'b', description: 'Write', group: 'Letters', field: 'scope:b' }),
    ],
    question: { text: 'Which album?', field: 'choice', answers: [{ value: '"1', label: '<Pets>' }] },
  }
  const app = withViews()
  app.get('/', (_request, response) => response.render('consent', { view: full }))
  app.get('/blocked', (_request, response) =>
    response.render('consent', { view: { ...view, obstacle: 'No album.' } }),
  )
  const { text } = await request(app).get('/')
  const places = ['Photos', 'Look', 'Letters', 'Write', 'Be careful', 'Burn', 'Which album?'].map((part) =>
    text.indexOf(part),
  )
  expect(places).toEqual(places.toSorted((one, other) => one - other))
  expect(places).not.toContain(-1)
  for (const shown of [
    'name="scope:b" value="yes" /> Write',
    'value="&#34;1" required /> &lt;Pets&gt;',
    'href="?prompt=select_account&amp;x=1"',
  ])
    expect(text).toContain(shown)
  expect(text).not.toContain('checked')
  const blocked = await request(app).get('/blocked')
  expect(blocked.text).toContain('No album.')
  expect(blocked.text).not.toContain('value="approve"')
})

describe('the application of the guide, behind helmet', () => {
  let browser: Browser
  let tab: Page
  const closing: (() => unknown)[] = []
  let origin: string
  let client: string
  const complaints: string[] = []
  beforeAll(async () => {
    const back = await startServer(express().use((_request, response) => void response.send('<p>back</p>')))
    closing.push(back.stop)
    client = `http://127.0.0.1:${back.port}/callback`
    const port = await freePort()
    origin = `http://localhost:${port}`
    const running = fork('host.ts', {
      cwd: examples,
      env: { ...process.env, PORT: String(port), ISSUER: origin, CALLBACK: client },
      execArgv: ['-r', 'esbuild-register', '-r', join(root, 'test/support/tell-port.js')],
    })
    closing.push(async () => {
      running.kill()
      await once(running, 'exit')
    })
    await once(running, 'message')
    browser = await launchChromium()
    closing.push(() => browser.close())
    tab = await browser.newPage()
    tab.on('console', (message) => complaints.push(message.text()))
  })
  afterAll(async () => {
    for (const close of closing.toReversed()) await close()
  })

  const asked = {
    response_type: 'code',
    client_id: 'album',
    scope: 'photos:read photos:delete',
    state: 'xyz',
  }
  const pkce = { code_challenge: codeChallenge, code_challenge_method: 'S256' }
  const authorizationUrl = () =>
    `${origin}/authorize?${new URLSearchParams({ ...asked, ...pkce }).toString()}`

  test('leads a browser over a wrong password, the login and the consent page back to the client', async () => {
    await tab.goto(authorizationUrl())
    await tab.getByLabel('Name').fill('ada')
    await tab.getByLabel('Password').fill('wrong')
    await tab.getByRole('button').click()
    await tab.getByRole('alert').waitFor()
    await tab.getByLabel('Name').fill('ada')
    await tab.getByLabel('Password').fill('lovelace')
    await tab.getByRole('button').click()
    await tab.getByText('Ada Lovelace').waitFor()
    await tab.getByText('See your photos').waitFor()
    await tab.getByLabel('Delete your photos').check()
    await tab.getByLabel('Pets').check()
    await tab.getByRole('button', { name: 'Allow' }).click()
    await tab.waitForURL(`${client}?code=**&state=xyz**`)
    expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
  })

  test('shows a refusal on the page of the host', async () => {
    const refused = await fetch(`${origin}/authorize?client_id=unknown`, { headers: { Accept: 'text/html' } })
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('<title>This request cannot go on</title>')
  })

  test.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)'])(
    'sends the user after the login never to %s',
    async (returnTo) => {
      const body = new URLSearchParams({ name: 'ada', password: 'lovelace', return_to: returnTo })
      const { status, headers } = await fetch(`${origin}/login`, { method: 'POST', body, redirect: 'manual' })
      expect([status, headers.get('location')]).toEqual([303, '/'])
    },
  )
})
