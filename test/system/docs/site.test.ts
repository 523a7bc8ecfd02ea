import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runInNewContext } from 'node:vm'
import MiniSearch from 'minisearch'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { find, searchOptions } from '../../../docs/site/search-index'
import { faultsOn } from '../../support/browser/axe'
import { launchChromium } from '../../support/chromium'
import { root } from './example'

const site = join(root, 'site')
const onSite = (path: string) => readFileSync(join(site, path), 'utf8')
const urlOf = (path: string) => pathToFileURL(join(site, path)).href
const pageOf = (file: string) => file.replace(/README\.md$/, 'index.md').replace(/md$/, 'html')

let documents: readonly string[]
let pages: readonly string[]
beforeAll(() => {
  execFileSync('npm', ['run', 'docs'], { cwd: root, stdio: 'pipe' })
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  documents = ['README.md', 'SECURITY.md', ...inDocs.map((file) => `docs/${file}`)].filter((file) =>
    file.endsWith('.md'),
  )
  pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'))
})

test('every document is a page, in the navigation of the first page, and in llms.txt', () => {
  const links = (text: string, pattern: RegExp) =>
    Array.from(text.matchAll(pattern), ([, to = '']) => to).toSorted()
  expect(documents.length).toBeGreaterThan(40)
  expect(documents.filter((file) => !pages.includes(pageOf(file)))).toEqual([])
  const [navigation = ''] = /<nav aria-label="All pages">.*?<\/nav>/s.exec(onSite('index.html')) ?? []
  expect(links(navigation, /href="([^#"]+)"/g)).toEqual(documents.map(pageOf).toSorted())
  const listed = onSite('llms.txt')
  expect(links(listed, /^- \[[^\]]+\]\((.+?)\): \S.+$/gm)).toEqual(documents.toSorted())
  expect(listed).toMatch(/^# express-authorization-server\n\n> \S.+\n/)
  const whole = onSite('llms-full.txt')
  for (const file of documents) {
    expect(whole).toContain(onSite(file))
    expect(onSite(file)).toBe(readFileSync(join(root, file), 'utf8'))
  }
})

test('every link leads to a file of the site, and to a place in it; none is loaded from elsewhere', () => {
  const placesIn = new Map(
    pages.map((page) => [page, Array.from(onSite(page).matchAll(/ id="([^"]*)"/g), ([, id]) => id)]),
  )
  for (const [page, ids] of placesIn) expect([page, new Set(ids).size]).toEqual([page, ids.length])
  const links = pages.flatMap((page) =>
    Array.from(
      onSite(page).matchAll(/ (href|src|srcset)="([^"#]*)#?([^"]*)"/g),
      ([, kind = '', path = '', place = '']) => ({ page, kind, path, place }),
    ),
  )
  const inside = links.filter(({ kind, path }) => kind !== 'href' || !/^\w+:/.test(path))
  expect(inside.length).toBeGreaterThan(1000)
  const dead = inside.filter(({ page, path, place }) => {
    const target = path === '' ? page : posix.join(posix.dirname(page), path)
    return !existsSync(join(site, target)) || (place !== '' && !placesIn.get(target)?.includes(place))
  })
  expect(dead).toEqual([])
})

test('the search finds a name, a part of a name, and a word with a mistake', () => {
  const loaded: { searchIndex?: Parameters<typeof MiniSearch.loadJS>[0] } = {}
  runInNewContext(onSite('assets/search-index.js'), loaded)
  const index = MiniSearch.loadJS(JSON.parse(JSON.stringify(loaded.searchIndex)), searchOptions)
  const found = (query: string) => find(index, query).map(({ id }) => String(id).replace(/#.*/, ''))
  expect(found('openid connect')[0]).toBe('docs/guides/openid-connect.html')
  expect(found('redirect_uri_mismatch')).toContain('docs/errors.html')
  expect(found('mismatch redirect')).toContain('docs/errors.html')
  expect(found('minttoken')).toContain('docs/testing.html')
  expect(found('introspecton')).toContain('docs/introspection-guard.html')
  expect(found('qqqqqqq')).toEqual([])
})

describe('In Chromium, without a network', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium()
  })
  afterAll(() => browser.close())

  /** Opens a page of the site from the disk; at the end, it has asked for nothing else and has not complained. */
  async function withPage(path: string, options: BrowserContextOptions, act: (page: Page) => Promise<void>) {
    const context = await browser.newContext({ ...options, offline: true })
    const page = await context.newPage()
    const foreign: string[] = []
    page.on('request', (request) => request.url().startsWith(urlOf('')) || foreign.push(request.url()))
    page.on('console', (message) => foreign.push(message.text()))
    await page.goto(urlOf(path))
    await act(page)
    expect(foreign).toEqual([])
    await context.close()
  }

  const phone = { width: 390, height: 844 }
  const width = (page: Page) => page.evaluate('document.documentElement.scrollWidth')

  test.each([
    ['index.html', phone, 'light'],
    ['docs/guides/add-to-your-application.html', phone, 'dark'],
    ['docs/options.html', phone, 'light'],
    ['docs/guides/openid-connect.html', { width: 1280, height: 900 }, 'dark'],
    ['docs/agents.html', { width: 1280, height: 900 }, 'light'],
  ] as const)('%s at %j, %s, fits the screen, and axe finds nothing', async (path, viewport, colorScheme) => {
    await withPage(path, { viewport, colorScheme }, async (page) => {
      expect(await width(page)).toBe(viewport.width)
      expect(await faultsOn(page)).toEqual([])
    })
  })

  test('no page scrolls to the side on a phone', async () => {
    await withPage('index.html', { viewport: phone, javaScriptEnabled: false }, async (page) => {
      const wide: string[] = []
      for (const path of pages.filter((file) => !file.includes('/examples/'))) {
        await page.goto(urlOf(path))
        if ((await width(page)) !== phone.width) wide.push(path)
      }
      expect(wide).toEqual([])
    })
  })

  test('without script, a page shows its text and, from a menu, its navigation, and no search', async () => {
    await withPage('docs/guides/stores.html', { viewport: phone, javaScriptEnabled: false }, async (page) => {
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Which store for whom')
      expect(await page.locator('article').innerText()).toContain('ioredis')
      expect(await page.getByRole('searchbox').isVisible()).toBe(false)
      const link = page.getByRole('link', { name: 'Errors', exact: true }).first()
      expect(await link.isVisible()).toBe(false)
      await page.getByText('Menu', { exact: true }).click()
      await link.click()
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Errors')
    })
  })

  test('the search finds a section, and leads there by the keyboard alone', async () => {
    await withPage('docs/guides/stores.html', {}, async (page) => {
      await page.keyboard.press('/')
      await page.keyboard.type('proof of possession')
      await page
        .getByRole('link', { name: /^Proof of possession/ })
        .first()
        .waitFor()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/proof-of-possession.html*')
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Proof of possession')
    })
  })
})
