import type { Browser, Page } from 'playwright-core'
import { startDemo, type Demo } from '../../../demo/demo'
import { press } from '../../support/browser/follow'
import { keepScreenshot } from '../../support/browser/keep-screenshot'
import { launchChromium } from '../../support/chromium'
import { freePorts } from '../../support/clients/free-ports'
import { startRedis } from '../../support/redis-server'
import { storages } from './storages'
import { allow, signIn } from './visit'

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser.close())

const isAsked = (page: Page) => page.getByRole('button', { name: 'Allow' }).isVisible()

describe.each(storages)('Lumen in Chromium, with %s,', (storage) => {
  let redis: Awaited<ReturnType<typeof startRedis>> | undefined
  let demo: Demo
  let page: Page
  beforeEach(async () => {
    if (storage === 'Redis') redis = await startRedis()
    demo = await startDemo({ ports: freePorts, redisUrl: redis?.url })
    page = await browser.newPage()
  })
  afterEach(async () => {
    await page.close()
    await demo.stop()
    await redis?.stop()
  })

  async function connect(app: string): Promise<void> {
    await page.goto(app)
    await press(page, 'Connect Lumen')
  }

  test('remembers what was allowed to Photo Book, also for a new sign-in, and asks again once there are two workspaces', async () => {
    await connect(demo.client)
    await signIn(page, demo)
    await allow(page, 'Alpine Club')
    await keepScreenshot(page, 'remembered')
    await press(page, 'Disconnect')
    expect(await page.getByRole('status').innerText()).toContain('Lumen remembers what you allowed')
    await press(page, 'Connect Lumen')
    expect(await page.getByText('3 photos of Alpine Club').isVisible()).toBe(true)

    await press(page, 'Disconnect')
    await page.goto(demo.authorizationServer)
    await press(page, 'Sign out')
    await connect(demo.client)
    await signIn(page, demo)
    expect(await page.getByText('3 photos of Alpine Club').isVisible()).toBe(true)

    await press(page, 'Choose another workspace')
    expect(await isAsked(page)).toBe(true)
    await allow(page, 'Travels')
    await press(page, 'Disconnect')
    await press(page, 'Connect Lumen')
    expect(await isAsked(page)).toBe(true)
  })

  test('asks again for Postcards, which introduced itself, and the app says why', async () => {
    await connect(demo.postcards)
    await signIn(page, demo)
    await allow(page)
    await press(page, 'Disconnect')
    expect(await page.getByRole('status').innerText()).toContain(
      'it remembers nothing for an app that is not verified',
    )
    await press(page, 'Connect Lumen')
    expect(await isAsked(page)).toBe(true)
  })

  test('logs a member of Supper Club in again without a question', async () => {
    const logIn = async () => {
      await page.goto(demo.relyingParty)
      await press(page, 'Sign in with Lumen')
    }
    await logIn()
    await signIn(page, demo)
    await press(page, 'Allow')
    await press(page, 'Sign out')
    await press(page, 'Stay signed in')
    await logIn()
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Good evening, Ada Lovelace.')
  })
})
