import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import type { Browser, Page } from 'playwright-core'
import request from 'supertest'
import type { ConsentView } from '../../../lib/index'
import { follow, press } from '../../support/browser/follow'
import { launchChromium } from '../../support/chromium'
import { codeChallenge } from '../../support/flows/proof-key'
import { freePort } from '../../support/mcp/free-port'
import { startServer } from '../../support/start-server'
import { read, root, serveExample } from './example'

const examples = join(root, 'docs/examples')

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser.close())

let tab: Page
const stops: (() => unknown)[] = []
beforeEach(async () => {
  tab = await browser.newPage()
})
afterEach(async () => {
  await tab.close()
  for (const stop of stops.splice(0)) await stop()
})

async function serve(...words: Parameters<typeof serveExample>): Promise<string> {
  const { issuer, stop } = await serveExample(...words)
  stops.push(stop)
  return issuer
}

/** A server of a guide, and its client, which reach each other. */
async function serveBoth(server: string, relying: string, more: Readonly<Record<string, string>> = {}) {
  const client = `http://127.0.0.1:${await freePort()}`
  const environment = { CALLBACK: `${client}/callback`, ...more }
  const issuer = await serve(server, environment)
  await serve(relying, { ...environment, ISSUER: issuer, PORT: new URL(issuer).port })
  return { client, issuer }
}

const withViews = () => express().set('view engine', 'ejs').set('views', join(examples, 'views'))
type ConsentScope = ConsentView['scope'][number]
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
  problem: undefined,
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
    response.render('consent', { view: { ...view, problem: 'No album.' } }),
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

test('the application of the guide, behind helmet, leads a browser over a wrong password, the login and the consent page', async () => {
  const back = await startServer(express().use((_request, response) => void response.send('<p>back</p>')))
  const client = `http://127.0.0.1:${back.port}/callback`
  stops.push(back.stop)
  const origin = await serve('host.ts', { CALLBACK: client }, examples)
  const complaints: string[] = []
  tab.on('console', (message) => complaints.push(message.text()))
  const asked = {
    response_type: 'code',
    client_id: 'album',
    scope: 'photos:read photos:delete',
    state: 'xyz',
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
  }
  await tab.goto(`${origin}/authorize?${new URLSearchParams(asked).toString()}`)
  const logIn = async (password: string) => {
    await tab.getByLabel('Name').fill('ada')
    await tab.getByLabel('Password').fill(password)
    await tab.getByRole('button').click()
  }
  await logIn('wrong')
  await tab.getByRole('alert').waitFor()
  await logIn('lovelace')
  await tab.getByText('Ada Lovelace').waitFor()
  await tab.getByText('See your photos').waitFor()
  await tab.getByLabel('Delete your photos').check()
  await tab.getByRole('button', { name: 'Allow' }).click()
  await tab.waitForURL(`${client}?code=**&state=xyz**`)
  expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])

  const refused = await request(origin).get('/authorize?client_id=unknown').set('Accept', 'text/html')
  expect(refused.status).toBe(400)
  expect(refused.text).toContain('<title>This request cannot go on</title>')
  for (const return_to of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
  ]) {
    const form = { name: 'ada', password: 'lovelace', return_to }
    const { status, headers } = await request(origin).post('/login').type('form').send(form)
    expect([return_to, status, headers['location']]).toEqual([return_to, 303, '/'])
  }
})

test('the server and the client of OpenID Connect log a person in, and send one who asked for no login back', async () => {
  const { client } = await serveBoth('openid-connect.ts', 'relying-party.ts')
  await tab.goto(client)
  await follow(tab, () => tab.getByRole('link').click())
  await tab.getByText('See your e-mail address').waitFor()
  await press(tab, 'Allow')
  expect(tab.url()).toBe(`${client}/`)
  expect(JSON.parse(await tab.locator('body').innerText())).toEqual({ id: 'u-1815', name: 'Ada Lovelace' })
  const stolen = await request(client).get('/callback?code=stolen')
  expect([stolen.status, stolen.get('Location')]).toEqual([303, '/'])
})

test('the server and the client of request objects give access by a signed request and a form, and by no other', async () => {
  const KEYS = mkdtempSync(join(tmpdir(), 'keys-'))
  stops.push(() => rmSync(KEYS, { recursive: true }))
  const [, command = ''] = /^node -e "(.*)"$/m.exec(read('docs/guides/request-objects.md')) ?? []
  execFileSync(process.execPath, ['-e', command], { cwd: KEYS })
  const { client, issuer } = await serveBoth('request-objects.ts', 'signing-client.ts', { KEYS })
  const responses: string[] = []
  tab.on('request', (sent) => {
    if (sent.url().startsWith(`${client}/callback`)) responses.push(`${sent.method()} ${sent.url()}`)
  })
  await tab.goto(client)
  expect(new URL(tab.url()).searchParams.get('state')).toBeNull()
  await tab.getByText('See your photos').waitFor()
  await press(tab, 'Allow')
  await tab.waitForURL(`${client}/callback`)
  expect(JSON.parse(await tab.locator('body').innerText())).toEqual({ scope: 'photos:read' })
  expect(responses).toEqual([`POST ${client}/callback`])
  const plain = { client_id: 'album', response_type: 'code', scope: 'photos:read' }
  const answer = await request(issuer).get('/authorize').query(plain)
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('invalid_request')])
})
