import type { Browser, Page } from 'playwright-core'
import { consentPage, type ConsentView } from '../../../lib/http/pages/consent-page'
import { createPageLocales } from '../../../lib/http/pages/texts/locale'
import { visibleName } from '../../../lib/http/pages/visible-text'
import { launchChromium } from '../../support/chromium'
import { consentView } from '../../support/consent-view'

const english = createPageLocales().choose('en', undefined)

/** The client that all others imitate. */
const real = consentView({
  client: { client_id: 'photo-book', client_name: 'Photo Book', client_uri: 'https://photobook.example/' },
  redirectTo: 'https://photobook.example/callback',
})

interface Imitation {
  readonly client_name: string
  /** The host of its `client_id`; undefined if it registered itself. */
  readonly host?: string
  readonly redirectTo?: string
  readonly receiver?: ConsentView['receiver']
}

const host = 'evil.example'
const device = { redirectTo: 'http://127.0.0.1:4000/callback', receiver: 'device' } as const
const app = { redirectTo: 'photobook.example:/callback', receiver: 'app' } as const

const imitations: readonly (readonly [string, Imitation])[] = [
  ['the same name', { client_name: 'Photo Book', host }],
  ['the same name, registered by itself', { client_name: 'Photo Book' }],
  ['a host that looks alike', { client_name: 'Photo Book', host: 'photob00k.example' }],
  ['a subdomain with the real host', { client_name: 'Photo Book', host: 'photobook.example.evil.example' }],
  ['a host of letters that look alike', { client_name: 'Photo Book', host: 'xn--phtobook-9ji.example' }],
  ['the real host with a port', { client_name: 'Photo Book', host: 'photobook.example:8443' }],
  ['Cyrillic letters', { client_name: 'Phоtо Bооk', host }],
  ['Greek letters', { client_name: 'Ρhοtο Βοοk', host }],
  ['full-width letters', { client_name: 'Ｐｈｏｔｏ　Ｂｏｏｋ', host }],
  ['a zero width space', { client_name: 'Photo\u200B Book', host }],
  ['joiners', { client_name: 'Pho\u200Dto\u200C Book', host }],
  ['variation selectors', { client_name: 'Photo\uFE0F Book', host }],
  ['an override of the direction', { client_name: '\u202Ekoob otohP', host }],
  ['the mark of a check', { client_name: 'Photo Book ✓ Verified', host }],
  ['the real host in the name', { client_name: 'Photo Book photobook.example', host }],
  ['spaces that push the rest away', { client_name: `Photo Book${'\u00A0'.repeat(200)}x`, host }],
  ['a destination on this device', { client_name: 'Photo Book', host, ...device }],
  ['a destination on this device, registered by itself', { client_name: 'Photo Book', ...device }],
  ['a scheme of its own', { client_name: 'Photo Book', host, ...app }],
  ['the destination of the real one', { client_name: 'Photo Book', redirectTo: real.redirectTo }],
]

const viewOf = ({ client_name, host: described, ...to }: Imitation): ConsentView =>
  consentView({
    redirectTo: 'https://evil.example/callback',
    ...to,
    client: {
      client_id: 'imitation',
      client_name: visibleName(client_name),
      description: 'The official Photo Book, registered and verified.',
      logo_uri: 'https://evil.example/logo-of-photo-book.png',
      unregistered: { host: described },
    },
  })

let browser: Browser
let page: Page
const requests: string[] = []
beforeAll(async () => {
  browser = await launchChromium()
  page = await browser.newPage({ viewport: { width: 360, height: 740 } })
  page.on('request', (request) => requests.push(request.url()))
})
afterAll(() => browser.close())

/** The texts that a person sees on the first screen of a phone, and what the page loads. */
async function seenOn(view: ConsentView) {
  requests.splice(0)
  await page.setContent(consentPage(view, english))
  const inSight = async (selector: string) => {
    const found = page.locator(selector)
    const boxes = await Promise.all(
      (await found.all()).map(async (one) => ({ text: await one.innerText(), box: await one.boundingBox() })),
    )
    return boxes
      .filter(({ box }) => box !== null && box.height > 0 && box.y + box.height <= 740)
      .map(({ text }) => text)
  }
  return {
    badge: await inSight('.badge'),
    origin: await inSight('.origin bdi'),
    warnings: (await inSight('.caution')).join(' '),
    loads: [...requests],
  }
}

test('the page of the real client has no mark and no warning', async () => {
  expect(await seenOn(real)).toEqual({ badge: [], origin: [], warnings: '', loads: [] })
})

test('there are twenty imitations', () => {
  expect(imitations).toHaveLength(20)
})

test.each(imitations)('a client with %s is told apart without opening anything', async (_what, imitation) => {
  const { badge, origin, warnings, loads } = await seenOn(viewOf(imitation))
  expect(badge).toEqual(['Not verified'])
  expect(origin).toEqual(imitation.host === undefined ? [] : [imitation.host])
  expect(warnings).toContain('Its name is its own claim.')
  expect(loads).toEqual([])
})

test.each(imitations.filter(([, { receiver }]) => receiver !== undefined))(
  'a client with %s has a warning about this device on the first screen',
  async (_what, imitation) => {
    expect((await seenOn(viewOf(imitation))).warnings).toContain('on this device.')
  },
)

test('a registered client on this device has the warning, too, and no other', async () => {
  const { badge, warnings } = await seenOn({ ...real, ...device })
  expect(badge).toEqual([])
  expect(warnings).toMatch(/^The access goes to a program on this device\./)
})
