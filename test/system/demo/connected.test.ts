import type { Browser, Page } from 'playwright-core'
import { startDemo, type Demo } from '../../../demo/demo'
import { faultsOn } from '../../support/browser/axe'
import { follow, press } from '../../support/browser/follow'
import { keepScreenshot } from '../../support/browser/keep-screenshot'
import { launchChromium } from '../../support/chromium'
import { freePorts } from '../../support/clients/free-ports'
import { ResourceOwner } from '../../support/clients/resource-owner'
import { startRedis } from '../../support/redis-server'
import { AppVisitor, noticeIn } from './app-visitor'
import { storages } from './storages'
import { allow, signIn } from './visit'

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser.close())

const openLink = (page: Page, name: string) =>
  follow(page, () => page.getByRole('link', { name, exact: true }).click())

async function connect(page: Page, app: string, workspace: string): Promise<void> {
  await page.goto(app)
  await press(page, 'Connect Lumen')
  await allow(page, workspace)
}

describe.each(storages)('the connected applications of the demo, with %s', (storage) => {
  let redis: Awaited<ReturnType<typeof startRedis>> | undefined
  let demo: Demo
  beforeAll(async () => {
    if (storage === 'Redis') redis = await startRedis()
    demo = await startDemo({ ports: freePorts, redisUrl: redis?.url })
  })
  afterAll(async () => {
    await demo.stop()
    await redis?.stop()
  })

  test('ask who is there, and name no app before', async () => {
    const answer = await fetch(`${demo.authorizationServer}/authorizations`, { redirect: 'manual' })
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toContain('/login?')
  })

  test('lose Photo Book at the press of a button: its tokens are dead, and what Lumen remembered is forgotten', async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
    await page.goto(demo.authorizationServer)
    await openLink(page, 'Connected applications')
    await signIn(page, demo)
    expect(await page.getByText('No app can access your account.').isVisible()).toBe(true)
    await page.goto(demo.client)
    await press(page, 'Connect Lumen')
    const question = await page.locator('body').innerText()
    expect(question).toMatch(/^Lumen\s|at Lumen/m)
    expect(question).toMatch(/Access to\s+Lumen photos/)
    await allow(page, 'Alpine Club')
    await connect(page, demo.postcards, 'Travels')

    await page.goto(demo.authorizationServer)
    await openLink(page, 'Connected applications')
    const [photoBook = '', postcards = ''] = await page.locator('.application').allInnerTexts()
    expect(photoBook).toMatch(/^Photo Book[^]*See your photos[^]*Alpine Club/)
    expect(photoBook).not.toContain('Not verified')
    expect(photoBook).toMatch(/Access to\s+Lumen photos\s/)
    expect(photoBook).not.toContain('http')
    expect(postcards).toMatch(/^Postcards[^]*Not verified[^]*See your photos/)
    expect(await faultsOn(page)).toEqual([])
    await keepScreenshot(page, 'connected applications')

    await openLink(page, 'Remove Photo Book')
    await keepScreenshot(page, 'connected applications question')
    await press(page, 'Remove')
    expect(await page.getByRole('status').innerText()).toContain('The access of Photo Book is removed.')
    expect(await page.locator('.application').count()).toBe(1)

    await page.goto(demo.client)
    expect(await page.getByRole('alert').innerText()).toContain('Lumen has ended this connection')
    await press(page, 'Connect Lumen')
    expect(await page.getByRole('button', { name: 'Allow' }).isVisible()).toBe(true)
    await page.close()
  })

  test('name an attack that ended itself for what Lumen remembers of it, until that is removed', async () => {
    const visitor = new AppVisitor(demo.attackLab)
    const { location } = await visitor.post('/replay')
    const owner = new ResourceOwner(demo)
    expect(noticeIn(await visitor.read(await owner.decide(location ?? '')))).toBeUndefined()
    expect(await owner.read('/authorizations')).toContain('Attack Lab')
  })
})
