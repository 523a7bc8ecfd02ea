import type { Browser } from 'playwright-core'
import { startDemo, type Demo } from '../../demo/demo'
import { faultsOn } from '../support/browser/axe'
import { follow, press } from '../support/browser/follow'
import { keepScreenshot } from '../support/browser/keep-screenshot'
import { launchChromium } from '../support/chromium'
import { freePorts } from '../support/clients/free-ports'
import { signIn } from './visit'

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

const apps = [
  'Photo Book',
  'Postcards',
  'Supper Club',
  'Attack Lab',
  'Television',
  'Connected applications',
  'Photo API',
  'MCP server',
]

test('the front page says in a sentence what each app does', async () => {
  const page = await (await fetch(demo.authorizationServer)).text()
  const told = [...page.matchAll(/<strong>(?:<a [^>]*>)?([^<]*)(?:<\/a>)?<\/strong>\s*([^<]*?)\s*<\/p>/g)]
  expect(told.map(([, name]) => name)).toEqual(apps)
  for (const [, , does] of told) expect(does).toMatch(/^[a-z][^.]*\.( The terminal [^.]*\.)?$/)
})

test('in Chromium, each app leads back to the front page, signed in or not', async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  for (const name of ['Photo Book', 'Postcards', 'Supper Club', 'Attack Lab', 'Television']) {
    await page.goto(demo.authorizationServer)
    await follow(page, () => page.getByRole('link', { name }).click())
    expect(await page.title()).toBe(name)
    await follow(page, () => page.getByRole('link', { name: 'All apps of the demo' }).click())
    expect(page.url()).toBe(`${demo.authorizationServer}/`)
  }
  expect(await faultsOn(page)).toEqual([])
  await press(page, 'Sign in')
  expect(await page.getByText('Name and password of this demo: ada countess').isVisible()).toBe(true)
  expect(await faultsOn(page)).toEqual([])
  await signIn(page, demo)
  expect(page.url()).toBe(`${demo.authorizationServer}/`)
  await keepScreenshot(page, 'front page signed in')
  await page.close()
})
