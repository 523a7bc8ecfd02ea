import type { Browser } from 'playwright-core'
import { startDemo, type Demo } from '../../../demo/demo'
import { faultsOn } from '../../support/browser/axe'
import { follow, press } from '../../support/browser/follow'
import { keepScreenshot } from '../../support/browser/keep-screenshot'
import { launchChromium } from '../../support/chromium'
import { freePorts } from '../../support/clients/free-ports'
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
  const told = [
    ...page.matchAll(/<strong[^>]*>(?:<a [^>]*>)?([^<]*)(?:<\/a>)?<\/strong>\s*([^<]*?)\s*<\/p>/g),
  ]
  expect(told.map(([, name]) => name)).toEqual(apps)
  for (const [, , does] of told) expect(does).toMatch(/^[a-z][^.]*\.( The terminal [^.]*\.)?$/)
})

test('each link of the front page leads to a page for people', async () => {
  const page = await (await fetch(demo.authorizationServer)).text()
  const links = [...page.matchAll(/<a href="([^"]*)"/g)].map(([, link = '']) => link)
  expect(links.length).toBe(apps.length - 2)
  for (const link of links) {
    const answer = await fetch(new URL(link, demo.authorizationServer))
    expect([link, answer.headers.get('content-type')]).toEqual([link, 'text/html; charset=utf-8'])
  }
})

test.each([390, 1280])(
  'the apps of the front page stand in line with their headings, %i px wide',
  async (width) => {
    const page = await browser.newPage({ viewport: { width, height: 844 } })
    await page.goto(demo.authorizationServer)
    const placesOf = (selector: string) =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('${selector}')].map((found) =>
        [getComputedStyle(found).textAlign, Math.round(found.getBoundingClientRect().left)].join())`,
      )
    const places = [...(await placesOf('section > h2')), ...(await placesOf('section > p'))]
    expect(places.length).toBe(apps.length + 3)
    expect(new Set(places).size).toBe(1)
    await page.close()
  },
)

test('each page of people says sign in, and none says log in', async () => {
  for (const url of [
    demo.authorizationServer,
    `${demo.authorizationServer}/login`,
    demo.relyingParty,
    demo.television,
  ]) {
    const page = (await (await fetch(url)).text()).replaceAll(/<[^>]*>/g, ' ')
    expect(page).toMatch(/sign(?:ed)? in/i)
    expect(page).not.toMatch(/log(?:ged|s you|s)? in|log out/i)
  }
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
