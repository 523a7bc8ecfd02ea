import type { Browser, BrowserContext, Page } from 'playwright-core'
import { startDemo, type Demo } from '../../../demo/demo'
import { press } from '../../support/browser/follow'
import { keepScreenshot, pixelRatio } from '../../support/browser/keep-screenshot'
import { launchChromium } from '../../support/chromium'
import { freePorts } from '../../support/clients/free-ports'
import { extent } from '../../support/extent'
import { startRedis, type RedisServer } from '../../support/redis-server'
import { allow, signIn } from './visit'

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser.close())

const devices = [
  { name: 'desktop', storage: 'Redis', viewport: { width: 1280, height: 800 } },
  { name: 'phone', storage: 'memory', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  {
    name: 'phone in the dark',
    storage: 'memory',
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark' as const,
  },
]

describe.each(extent(devices.slice(0, 1), devices))(
  'the demo in Chromium on a $name, with $storage',
  ({ name, storage, ...device }) => {
    let redis: RedisServer | undefined
    let demo: Demo
    beforeAll(async () => {
      if (storage === 'Redis') redis = await startRedis()
      demo = await startDemo({ ports: freePorts, redisUrl: redis?.url })
    })
    afterAll(async () => {
      await demo.stop()
      await redis?.stop()
    })

    let context: BrowserContext
    let page: Page
    let complaints: string[]
    beforeEach(async () => {
      context = await browser.newContext({ ...device, deviceScaleFactor: pixelRatio })
      page = await context.newPage()
      complaints = complaintsOf(page)
    })
    afterEach(() => context.close())

    const keep = (title: string) => keepScreenshot(page, `${name} ${title}`)

    async function fact(title: string): Promise<string> {
      return page
        .getByRole('definition')
        .nth(['Scope', 'Access token', 'Expires', 'Refresh token'].indexOf(title))
        .innerText()
    }

    async function expectPhotos(): Promise<void> {
      const photos = page.getByRole('figure').getByRole('img')
      expect(await photos.count()).toBe(4)
      for (const photo of await photos.all())
        expect(
          await photo.evaluate((image: { decode(): Promise<void>; naturalWidth: number }) =>
            image.decode().then(() => image.naturalWidth),
          ),
        ).toBe(800)
    }

    test('a resource owner who denies sees that nothing was shared', async () => {
      await page.goto(demo.authorizationServer)
      await keep('7 home')
      await press(page, 'Sign in')
      await signIn(page, demo)
      expect(await page.getByText('Signed in as Ada Lovelace').isVisible()).toBe(true)
      await keep('8 home signed in')

      await page.goto(demo.client)
      await press(page, 'Connect Lumen')
      await press(page, 'Cancel')
      expect(page.url()).toBe(`${demo.client}/`)
      expect(await page.getByRole('status').innerText()).toContain('Nothing was shared')
      await keep('9 refused')
      await page.reload()
      expect(await page.getByRole('status').count()).toBe(0)

      await page.goto(demo.authorizationServer)
      await press(page, 'Sign out')
      expect(await page.getByRole('button', { name: 'Sign in' }).isVisible()).toBe(true)
      expect(complaints).toEqual([])
    })

    test('a resource owner connects the client, sees the guarded photos, refreshes and disconnects', async () => {
      await page.goto(demo.client)
      await keep('1 invitation')
      await press(page, 'Connect Lumen')

      expect(page.url()).toContain(`${demo.authorizationServer}/login?return_to=`)
      await keep('2 sign in')
      await signIn(page, demo, 'not the password')
      expect(await page.getByRole('alert').innerText()).toBe('The name or the password is wrong.')
      await keep('3 wrong password')
      await signIn(page, demo)

      expect(await page.getByRole('heading', { level: 1, name: 'Photo Book' }).isVisible()).toBe(true)
      expect(await page.getByRole('listitem').allInnerTexts()).toEqual([
        expect.stringContaining('See your photos'),
      ])
      expect((await page.getByRole('definition').allInnerTexts()).slice(0, 2)).toEqual([
        `Lumen photos ${demo.resourceServer}`,
        'Ada Lovelace Not you?',
      ])
      await keep('4 consent')
      await allow(page)

      expect(page.url()).toBe(`${demo.client}/`)
      await expectPhotos()
      await keep('5 photos')
      const before = await fact('Access token')
      expect(await fact('Scope')).toBe('photos:read')
      expect(await fact('Expires')).toBe('in 60 minutes')

      await press(page, 'Refresh tokens')
      await expectPhotos()
      expect(await fact('Access token')).not.toBe(before)
      await keep('6 refreshed')

      await press(page, 'Disconnect')
      expect(await page.getByRole('button', { name: 'Connect Lumen' }).isVisible()).toBe(true)
      expect(complaints).toEqual([])
    })
  },
)

function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('console', (message) => {
    complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => {
    complaints.push(String(error))
  })
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    // A page that is left ends what still loads of it.
    if (reason !== 'net::ERR_ABORTED') complaints.push(`${request.url()} ${reason}`)
  })
  return complaints
}
