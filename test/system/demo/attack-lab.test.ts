import type { Browser, Page } from 'playwright-core'
import { startDemo, type Demo } from '../../../demo/demo'
import { faultsOn } from '../../support/browser/axe'
import { follow, press } from '../../support/browser/follow'
import { keepScreenshot } from '../../support/browser/keep-screenshot'
import { launchChromium } from '../../support/chromium'
import { freePorts } from '../../support/clients/free-ports'
import { extent } from '../../support/extent'
import { ResourceOwner } from '../../support/clients/resource-owner'
import { startRedis } from '../../support/redis-server'
import { AppVisitor, noticeIn } from './app-visitor'
import { storages } from './storages'
import { allow, signIn } from './visit'

/** The status of each answer that the page shows. */
const statusesIn = (page: string) =>
  [...page.matchAll(/<strong>(\d{3}) /g)].map(([, status]) => Number(status))

async function replay(demo: Demo, visitor: AppVisitor): Promise<string> {
  const { location } = await visitor.post('/replay')
  return visitor.read(await new ResourceOwner(demo).decide(location ?? ''))
}

describe.each(storages)('Attack Lab, with %s', (storage) => {
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

  test('uses a code twice: the second use fails, and ends the token of the first', async () => {
    const page = await replay(demo, new AppVisitor(demo.attackLab))
    expect(statusesIn(page)).toEqual([200, 200, 400, 401])
    expect(page).toMatch(/error: invalid_grant[^]*error: invalid_token/)
  })

  test('guesses until 429, and the service with the right secret still gets a token', async () => {
    const visitor = new AppVisitor(demo.attackLab)
    const { location } = await visitor.post('/guesses')
    const page = await visitor.read(location ?? '')
    expect(statusesIn(page)).toEqual([401, 401, 429, 200])
    expect(page).toContain('Guess 21 finds a closed door')
    expect(page).toMatch(/Retry-After: (?:900|8\d\d)/)

    // Lumen remembers, for whoever presses the button next.
    const next = new AppVisitor(demo.attackLab)
    await next.post('/guesses')
    const later = await next.read('/guesses')
    expect(statusesIn(later)).toEqual([429, 200])
    expect(later).toContain('Lumen has not forgotten')
  })
})

describe('Attack Lab', () => {
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

  test('shows no credential whole', async () => {
    const visitor = new AppVisitor(demo.attackLab)
    const pages = [await replay(demo, visitor)]
    await visitor.post('/guesses')
    pages.push(await visitor.read('/guesses'))
    const { attackLab, nightlyReport } = demo.clients
    for (const page of pages) {
      expect(page).not.toMatch(/(?:at|ac|rt)_[\w-]{10}/)
      expect(page).not.toContain(attackLab.client_secret)
      expect(page).not.toContain(nightlyReport.client_secret)
    }
  })

  test.each(['/replay', '/guesses'])('takes no form of another site at %s', async (path) => {
    const { status } = await new AppVisitor(demo.attackLab).post(path, { 'sec-fetch-site': 'cross-site' })
    expect(status).toBe(403)
  })

  test.each(['/replay', '/guesses'])(
    'leads to the choice of attacks from %s without an attack',
    async (path) => {
      expect((await new AppVisitor(demo.attackLab).get(path)).location?.href).toBe(`${demo.attackLab}/`)
    },
  )

  test('says so if its visitor does not allow the access, or if an answer belongs to another attack', async () => {
    const visitor = new AppVisitor(demo.attackLab)
    const { location } = await visitor.post('/replay')
    const denied = await visitor.read(await new ResourceOwner(demo).decide(location ?? '', 'deny'))
    expect(noticeIn(denied)).toContain('there was no code to steal')
    expect(noticeIn(await visitor.read('/callback?code=guessed&state=guessed'))).toContain(
      'does not belong to an attack',
    )
  })

  const looks = [
    ['light', { width: 1280, height: 900 }],
    ['dark', { width: 390, height: 844 }],
  ] as const

  describe.each(looks.slice(0, extent(1, looks.length)))(
    'in Chromium, in the %s',
    (colorScheme, viewport) => {
      let fresh: Demo
      let page: Page
      beforeAll(async () => {
        fresh = await startDemo({ ports: freePorts })
        page = await browser.newPage({ colorScheme, viewport })
      })
      afterAll(async () => {
        await page.close()
        await fresh.stop()
      })

      /** The headings of the steps, and the explanations that stand beside them. */
      const titles = () => page.getByRole('heading', { level: 2 }).allInnerTexts()

      test('a visitor presses a button and sees the limit on guesses at work', async () => {
        await page.goto(fresh.authorizationServer)
        await follow(page, () => page.getByRole('link', { name: 'Attack Lab' }).click())
        expect(await faultsOn(page)).toEqual([])
        await keepScreenshot(page, `attack lab ${colorScheme} 1 choice`)
        await press(page, 'Guess a secret')
        expect(await titles()).toEqual([
          'The first guess is wrong',
          'So is every other, up to guess 20',
          'Guess 21 finds a closed door',
          'The service itself still gets in',
        ])
        expect(await page.getByText('429 Too Many Requests').isVisible()).toBe(true)
        const clause = page.getByRole('link', { name: 'RFC 6749, section 2.3.1' })
        expect(await clause.getAttribute('href')).toBe('https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1')
        expect(await faultsOn(page)).toEqual([])
        await keepScreenshot(page, `attack lab ${colorScheme} 2 guesses`)
      })

      test('a visitor allows an access, and sees the stolen code fail', async () => {
        await page.goto(fresh.attackLab)
        await press(page, 'Steal a code')
        await signIn(page, fresh)
        await allow(page)
        expect(page.url()).toBe(`${fresh.attackLab}/replay`)
        expect(await titles()).toEqual([
          'The app trades the code',
          'The token opens your photos',
          'A thief sends the same code',
          'Now the token of the app is dead, too',
        ])
        expect(await page.getByRole('link', { name: /^RFC / }).count()).toBe(4)
        expect(await faultsOn(page)).toEqual([])
        await keepScreenshot(page, `attack lab ${colorScheme} 3 replay`)
        // Back to the question, which has its answer: the page with what happened is where it ends.
        await page.goBack()
        expect(page.url()).toBe(`${fresh.attackLab}/replay`)
        // From then on, Lumen remembers: the button leads to the end at once.
        await press(page, 'Try again')
        expect(await titles()).toHaveLength(4)
        await press(page, 'Back to the attacks')
        await follow(page, () => page.getByRole('link', { name: 'All apps of the demo' }).click())
        expect(page.url()).toBe(`${fresh.authorizationServer}/`)
      })
    },
  )
})
