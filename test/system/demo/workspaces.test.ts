import type { Browser } from 'playwright-core'
import { startDemo, type Demo } from '../../../demo/demo'
import { launchChromium } from '../../support/chromium'
import { freePorts } from '../../support/clients/free-ports'
import { ResourceOwner } from '../../support/clients/resource-owner'
import { press } from '../../support/browser/follow'
import { runClient } from '../../support/mcp/run-client'
import { AppVisitor, noticeIn } from './app-visitor'
import { allow, signIn } from './visit'

let demo: Demo
let browser: Browser
beforeAll(async () => {
  demo = await startDemo({ ports: freePorts })
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await demo.stop()
})

/** Connects Photo Book, and chooses this workspace on the consent page. */
async function connect(visitor: AppVisitor, workspace: string): Promise<string> {
  const { location } = await visitor.post('/connect')
  const answer = await new ResourceOwner(demo).decide(location ?? '', 'approve', { choice: workspace })
  return visitor.read(answer)
}

const titlesIn = (page: string) => [...page.matchAll(/<figcaption>([^<]*?) </g)].map(([, title]) => title)

test('an app sees the photos of the workspace that its resource owner chose, and no others', async () => {
  const visitor = new AppVisitor(demo.client)
  const page = await connect(visitor, 'alpine-club')
  expect(page).toContain('3 photos of Alpine Club')
  expect(titlesIn(page)).toEqual(['Base camp', 'First snow', 'Alpenglow'])
  expect((await visitor.get('/photos/base-camp')).status).toBe(200)
  expect((await visitor.get('/photos/first-light')).status).toBe(404)
})

test('a workspace that the page did not offer is refused, and the app gets no answer', async () => {
  const { location } = await new AppVisitor(demo.client).post('/connect')
  const owner = new ResourceOwner(demo)
  await expect(owner.decide(location ?? '', 'approve', { choice: 'secret-society' })).rejects.toThrow(
    'no redirection: 400',
  )
})

test('another workspace ends the connection to the one before', async () => {
  const visitor = new AppVisitor(demo.client)
  await connect(visitor, 'travels')
  const page = await connect(visitor, 'alpine-club')
  expect(page).toContain('3 photos of Alpine Club')
  expect(page).toContain('Gave back the tokens of the connection before')
})

test('a visitor who wants another workspace and cancels keeps the connection', async () => {
  const visitor = new AppVisitor(demo.client)
  await connect(visitor, 'alpine-club')
  const { location } = await visitor.post('/connect')
  const page = await visitor.read(await new ResourceOwner(demo).decide(location ?? '', 'deny'))
  expect(noticeIn(page)).toBe('You chose nothing new. Photo Book goes on with the workspace that it has.')
  expect(page).toContain('3 photos of Alpine Club')
})

test('a service of Lumen itself, which has no resource owner, sees the photos of all workspaces', async () => {
  const { client_id, client_secret } = demo.clients.nightlyReport
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const answer = await fetch(`${demo.authorizationServer}/token`, { method: 'POST', body })
  const { access_token }: { access_token: string } = JSON.parse(await answer.text())
  const headers = { authorization: `Bearer ${access_token}` }
  const photos: { workspace: string }[] = JSON.parse(
    await (await fetch(`${demo.resourceServer}/photos`, { headers })).text(),
  )
  expect(new Set(photos.map(({ workspace }) => workspace))).toEqual(new Set(['Travels', 'Alpine Club']))
})

test('an AI client sees the photos of the workspace that its resource owner chose', async () => {
  const body = new URLSearchParams(demo.account)
  const answer = await fetch(`${demo.authorizationServer}/login`, {
    method: 'POST',
    body,
    redirect: 'manual',
  })
  const { results } = await runClient({
    generation: 2,
    server: demo.mcpServer,
    issuer: demo.authorizationServer,
    client: { kind: 'dynamic', redirectUri: 'http://127.0.0.1:3333/callback' },
    owner: {
      cookie: answer.headers
        .getSetCookie()
        .map((cookie) => cookie.split(';')[0])
        .join('; '),
    },
    tools: ['list_photos'],
  })
  expect(results).toEqual([expect.stringContaining('First light, Lofoten')])
  expect(results).not.toEqual([expect.stringContaining('Base camp')])
})

test('in Chromium, the consent page asks for a workspace before it allows anything, and the photos follow the answer', async () => {
  const fresh = await startDemo({ ports: freePorts })
  const page = await browser.newPage()
  await page.goto(fresh.client)
  await press(page, 'Connect Lumen')
  await signIn(page, fresh)
  expect(await page.getByRole('radio').count()).toBe(2)
  await page.getByRole('button', { name: 'Allow' }).click()
  // The browser holds the form back: no workspace is chosen.
  expect(new URL(page.url()).origin).toBe(fresh.authorizationServer)
  await allow(page, 'Alpine Club')
  expect(await page.getByText('3 photos of Alpine Club').isVisible()).toBe(true)
  await press(page, 'Choose another workspace')
  await allow(page, 'Travels')
  expect(await page.getByText('4 photos of Travels').isVisible()).toBe(true)
  await page.close()
  await fresh.stop()
})
