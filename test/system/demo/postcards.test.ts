import type { Browser } from 'playwright-core'
import { startDemo, type Demo } from '../../../demo/demo'
import { faultsOn } from '../../support/browser/axe'
import { follow, press } from '../../support/browser/follow'
import { keepScreenshot } from '../../support/browser/keep-screenshot'
import { launchChromium } from '../../support/chromium'
import { freePorts } from '../../support/clients/free-ports'
import { ResourceOwner } from '../../support/clients/resource-owner'
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

describe('Postcards', () => {
  test('introduces itself before it asks, and gets the same client_id each time', async () => {
    const [one, other] = [new AppVisitor(demo.postcards), new AppVisitor(demo.postcards)]
    const { location } = await one.post('/connect')
    const query = location?.searchParams
    expect(query?.get('client_id')).toMatch(/^dynamic_[\w-]{43}$/)
    expect(query?.get('redirect_uri')).toBe(`${demo.postcards}/callback`)
    expect((await other.post('/connect')).location?.searchParams.get('client_id')).toBe(
      query?.get('client_id'),
    )
  })

  test('shows the photos, refreshes and gives its tokens back, without a secret', async () => {
    const visitor = new AppVisitor(demo.postcards)
    const { location } = await visitor.post('/connect')
    const page = await visitor.read(await new ResourceOwner(demo).decide(location ?? ''))
    expect(page).toContain('4 photos of Travels')
    expect(page).toContain(`POST /register ${location?.searchParams.get('client_id')}`)
    await visitor.post('/refresh')
    expect(await visitor.read('/')).toContain('POST /token refresh_token')
    await visitor.post('/disconnect')
    expect(noticeIn(await visitor.read('/'))).toContain('Postcards gave its tokens back')
  })

  test('in Chromium, is marked as not verified on the consent page, and Photo Book is not', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    await page.goto(demo.authorizationServer)
    await follow(page, () => page.getByRole('link', { name: 'Postcards' }).click())
    expect(await faultsOn(page)).toEqual([])
    await press(page, 'Connect Lumen')
    await signIn(page, demo)
    expect(await page.getByText('Not verified').isVisible()).toBe(true)
    expect(await page.getByText('This app registered itself here.').isVisible()).toBe(true)
    await keepScreenshot(page, 'postcards consent')
    await allow(page)
    expect(page.url()).toBe(`${demo.postcards}/`)
    expect(await page.getByRole('figure').count()).toBe(4)
    expect(await page.getByRole('heading', { name: 'Why Lumen marked Postcards' }).isVisible()).toBe(true)
    expect(await faultsOn(page)).toEqual([])
    await keepScreenshot(page, 'postcards')

    await page.goto(demo.client)
    await press(page, 'Connect Lumen')
    expect(await page.getByText('wants to access your account').isVisible()).toBe(true)
    expect(await page.getByText('Not verified').count()).toBe(0)
    await page.close()
  })
})
