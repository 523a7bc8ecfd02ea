import { html, pageDocument } from '../../lib/index'
import { application, canonicalOptions } from '../support/flows/application'
import { photoBook } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { type Gallery, openGallery, pageNames } from '../support/page-gallery'

// Between letters, so that no part of a page but the text itself looks so.
const pieces =
  `< > " ' & \` = / \\ </title> <script> <!-- --> &lt; onload="a" {{x}} \${7*7} $& $' %3C é 漢 🔑`.split(' ')
const hostile = `Qq${pieces.join('')}${pieces.toReversed().join(' ')}qQ`

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
const inUrls = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)

/** A page without what is another text each time, and with a mark where the text stands as text or in a URL. */
const markedIn = (page: string, said: string) =>
  page
    .replaceAll(/&#(\d+);/g, (_, code) => escaped(String.fromCodePoint(Number(code))))
    .replaceAll(escaped(said), '[said]')
    .replaceAll(inUrls(said), '[said]')
    .replaceAll(/[\w-]{22,}|(?<=<code>)[\w-]{16}(?=<)|\b[B-Z]{4}-[B-Z]{4}\b|(?<=:|%3A)\d{5}\b/g, '*')
    .replaceAll(/<time[^]*?<\/time>/g, '*')

describe('No text of a request, a registration or a host is markup', () => {
  const plain = 'Qq plain qQ'
  let galleries: readonly (readonly [string, Gallery])[] = []
  beforeAll(async () => {
    galleries = await Promise.all(
      [plain, hostile].map(async (said) => [said, await openGallery(said)] as const),
    )
  })
  afterAll(() => Promise.all(galleries.map(([, gallery]) => gallery.close())))

  test.each(pageNames)('on the page %s [consent-19, consent-20]', async (name) => {
    const pages: string[] = []
    for (const [said, gallery] of galleries) pages.push(markedIn((await gallery.show(name)).text, said))
    const [expected, ...others] = pages
    for (const page of others) expect(page).toBe(expected)
    expect(expected).toMatch(/^<!doctype html>/)
  })
})

describe('Every page is small, has no script, and has its texts', () => {
  // The mark of texts that are not the pages' own.
  const said = '·'
  let gallery: Gallery
  beforeAll(async () => {
    gallery = await openGallery(said)
  })
  afterAll(() => gallery.close())

  const textsOf = (page: string) =>
    page
      .replaceAll(/<(style|code|bdi|time)\b[^]*?<\/\1>/g, '')
      .split(/<[^>]*>/)
      .map((text) => text.trim())
      .filter((text) => /\p{L}{2}/u.test(text) && !text.includes(said))

  test.each(pageNames)('in every language: %s', async (name) => {
    const english = textsOf((await gallery.show(name)).text)
    for (const language of ['de', 'fr', 'es', 'ja', 'ar']) {
      const { text } = await gallery.show(name, language)
      expect(text).toContain(`<html lang="${language}"${language === 'ar' ? ' dir="rtl"' : ''}>`)
      expect(text.length).toBeLessThan(20_000)
      expect(text).not.toMatch(/<script|\son\w+=|\sstyle=/i)
      const own = textsOf(text)
      expect(own.filter((one) => english.includes(one))).toEqual([])
      expect(own.join()).not.toMatch(/undefined|\[object|NaN/)
      expect(own.length).toBeGreaterThan(0)
    }
  })
})

/** The consent page of a client, an owner and a scope of this name. */
async function consentPage(name: string): Promise<string> {
  const registration = { ...photoBook.registration, client_name: name, description: name }
  const { flow } = application({
    clients: { find: async () => registration },
    resourceOwner: () => ({ subject: 'alice', name }),
    scopes: { ...canonicalOptions.scopes, 'photos:read': name },
  })
  return (await flow.ask({ ...authorizationRequest(photoBook), scope: 'photos:read' })).text
}

const seen = '\uFFFD'

// What a client, an owner or a scope may be called, and how a page shows it.
test.each([
  ['markup', '<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
  ['what looks escaped', '&lt;b&gt;&#x202e;', '&amp;lt;b&amp;gt;&amp;#x202e;'],
  ['an override of the direction', 'Photo\u202Ekcab', `Photo${seen}kcab`],
  ['isolates', '\u2066Photo\u2069', `${seen}Photo${seen}`],
  ['marks of a direction', '\u200EPho\u200Fto\u061C', `${seen}Pho${seen}to${seen}`],
  ['a zero width space', 'Pho\u200Bto', `Pho${seen}to`],
  ['a byte order mark', 'Pho\uFEFFto', `Pho${seen}to`],
  ['a soft hyphen', 'Pho\u00ADto', `Pho${seen}to`],
  ['a Hangul filler', 'Photo\u3164', `Photo${seen}`],
  ['a note without a head', 'Pho\u{1D159}to', `Pho${seen}to`],
  ['a line separator', 'Photo\u2028Book', `Photo${seen}Book`],
  ['half of a pair', 'Photo\uD83D', `Photo${seen}`],
  ['the other half', '\uDE00Photo', `${seen}Photo`],
  ['tag characters', 'Photo\u{E0045}\u{E0076}\u{E007F}', 'Photo'],
  ['variation selectors', 'Pho\uFE0Fto\u{E0100}\u180B', 'Photo'],
  ['a grapheme joiner', 'Pho\u034Fto', 'Photo'],
  ['joiners that join nothing', '\u200DPho\u200Cto\u200D', 'Photo'],
  ['joiners one after the other', 'عکس\u200C\u200Cها', 'عکس\u200Cها'],
  ['a flag that is spelt in tags', '🏴\u{E0067}\u{E0062}\u{E007F} Photo', '🏴 Photo'],
  ['a couple with joiners and a selector', '👩\u200D❤\uFE0F\u200D👨 Photo', '👩\u200D❤\u200D👨 Photo'],
  ['a skin tone before a joiner', '👩🏽\u200D🚀 Photo', '👩🏽\u200D🚀 Photo'],
  ['a conjunct of Devanagari', 'क्\u200Dष फ़ोटो', 'क्\u200Dष फ़ोटो'],
  ['letters from right to left', 'תמונות', 'תמונות'],
])('A name is shown for what it is: %s [consent-16]', async (_what, name, shown) => {
  const page = await consentPage(name)
  expect(page).toContain(`<bdi class="name">${shown}</bdi>`)
  expect(page.split(shown)).toHaveLength(6)
  expect(page.includes(name)).toBe(name === shown)
  expect(page).not.toMatch(/\p{Cs}/u)
})

test.each([
  ' \u00A0',
  ...'\u200D \u0301 \u{E0041}\u{E0042} \uFE0F \u3164 \u2800 \u202E \u200B\u00AD \uFFFD'.split(' '),
])('A name that shows nothing (%j) gives way to the identifier', async (name) => {
  expect(await consentPage(name)).toContain('<bdi class="name">photo-book</bdi>')
})

test.each([
  ['ñandu', 'Ñ'],
  ['«quoted»', 'Q'],
  ['🚀 launch', '🚀'],
  ['\u3164Photo', 'P'],
  ['...', '?'],
])('The name %s has the initial %s', async (name, initial) => {
  expect(await consentPage(name)).toContain(`<div class="mark" aria-hidden="true">${initial}</div>`)
})

describe('What hosts write with html', () => {
  test('escapes all but its own markup, and leaves nothing of undefined, false and an empty list', () => {
    const inner = html`<i>${'<'}</i>`
    const list = ['a', 'b'].map((item) => html`<li>${item}</li>`)
    expect(String(html`<b title="${`"'`}">${inner}${list}${undefined}${false}${[]}${'&lt;'}</b>`)).toBe(
      '<b title="&quot;&#39;"><i>&lt;</i><li>a</li><li>b</li>&amp;lt;</b>',
    )
  })

  test('takes no look-alike for markup', () => {
    const forged: unknown = JSON.parse('{ "text": "<b>", "toString": "<b>" }')
    // @ts-expect-error only the tag makes markup
    expect(() => html`${forged}`).toThrow(TypeError)
    // @ts-expect-error a list of strings is no list of markup
    expect(String(html`${['<b>']}`)).toBe('&lt;b&gt;')
  })

  test('is a document in standards mode that fetches nothing and escapes its title', () => {
    const page = pageDocument({ title: '</title><script>', content: html`<p>Content</p>` })
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/)
    expect(page).toContain('<meta name="viewport" content="width=device-width, initial-scale=1" />')
    expect(page).toContain('<meta name="referrer" content="same-origin" />')
    expect(page).toContain('<title>&lt;/title&gt;&lt;script&gt;</title>')
    expect(page).not.toMatch(/url\(|@import|@font-face| (src|href)=/)
  })
})
