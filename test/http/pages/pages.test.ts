import { consentPage } from '../../../lib/http/pages/consent-page'
import * as pages from '../../../lib/http/pages/pages'
import { createPageLocales } from '../../../lib/http/pages/texts/locale'
import { consentScope, consentView } from '../../support/consent-view'

const english = createPageLocales().choose(undefined, undefined)
// Where Prettier breaks a line inside a tag is nothing to test.
const tidy = (page: string) => page.replaceAll(/\s+>/g, '>')
type ViewOf<Page extends (view: never, locale: typeof english) => string> = Parameters<Page>[0]
const errorPage = (view: ViewOf<typeof pages.errorPage>) => tidy(pages.errorPage(view, english))
const continuePage = (view: ViewOf<typeof pages.continuePage>) => tidy(pages.continuePage(view, english))
const unverifiedPage = (view: ViewOf<typeof pages.unverifiedPage>) => pages.unverifiedPage(view, english)
const insecureRedirectPage = (view: ViewOf<typeof pages.insecureRedirectPage>) =>
  pages.insecureRedirectPage(view, english)

const refusal: ViewOf<typeof pages.errorPage> = {
  title: 'This link cannot be used',
  happened: 'The page is too old.',
  advice: 'Start again.',
  message: 'The application is not registered here.',
  code: 'unknown_client',
  requestId: 'b7f3c1d0e9a84f52',
  wayBack: undefined,
  manageAt: undefined,
  service: {},
  language: { tag: 'en', dir: 'ltr' },
}

describe('errorPage', () => {
  it('says what happened, in the title and in the one heading', () => {
    const page = errorPage(refusal)
    expect(page).toContain('<title>This link cannot be used</title>')
    expect(page.match(/<h1>[^]*?<\/h1>/g)).toEqual(['<h1>This link cannot be used</h1>'])
    expect(page).toContain('<p>The page is too old.</p>')
  })

  it('says what to do now, and keeps the English description for the makers of the app', () => {
    const page = errorPage(refusal)
    expect(page).toContain('Start again.</p>')
    expect(page).toContain('Details for the makers of the app: <bdi lang="en">The application is not')
  })

  it('leads back to a registered client, and names it', () => {
    const wayBack = { clientName: 'Photo <Book>', uri: 'https://photo.example/?a&b' }
    const page = errorPage({ ...refusal, wayBack })
    expect(page.match(/<a [^>]*>/g)).toEqual([
      '<a href="https://photo.example/?a&amp;b" rel="noreferrer" referrerpolicy="no-referrer">',
    ])
    expect(page).toContain('Back to <bdi>Photo &lt;Book&gt;</bdi>')
  })

  it('says that nothing was shared', () => {
    expect(errorPage(refusal)).toContain('Nothing was shared.')
  })

  it('names the code and the request', () => {
    const page = errorPage(refusal)
    expect(page).toContain('<code>unknown_client</code>')
    expect(page).toContain('<code>b7f3c1d0e9a84f52</code>')
  })

  it.each(['title', 'happened', 'advice', 'message', 'code', 'requestId'] as const)(
    'escapes a %s that is HTML [consent-19]',
    (field) => {
      const page = errorPage({ ...refusal, [field]: '<img src=x onerror=alert(1)>' })
      expect(page).not.toContain('<img')
      expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;')
    },
  )

  it('has no script, no inline style attribute, no link and no form', () => {
    expect(errorPage(refusal)).not.toMatch(/<script|\sstyle=|\son\w+=|<a\s|<form/i)
  })
})

const target = 'https://book.example/callback?app=1#access_token=at_x&state=%22%3E'
const continued = continuePage({ location: target, approved: true })

describe('continuePage', () => {
  it('has one link, which opens in its place and sends no referrer', () => {
    const href = 'https://book.example/callback?app=1#access_token=at_x&amp;state=%22%3E'
    expect(continued.match(/<a [^>]*>/g)).toEqual([
      `<a class="primary" href="${href}" rel="noreferrer" referrerpolicy="no-referrer">`,
    ])
  })

  it('names where it leads, an app too, and shows nothing of the answer', () => {
    expect(continued).toContain('<bdi>book.example</bdi>')
    expect(continuePage({ location: 'com.example.app:/cb#x', approved: true })).toContain(
      '(com.example.app:)',
    )
    expect(continued.replace(/href="[^"]*"/, '')).not.toContain('at_x')
  })

  it('distinguishes an approval from anything else', () => {
    expect(continued).toContain('<h1>You allowed access</h1>')
    const refused = continuePage({ location: target, approved: false })
    expect(refused).toContain('<h1>No access was given</h1>')
    expect(refused).not.toContain('You allowed')
  })

  it('escapes a location that is HTML [consent-20]', () => {
    const text = continuePage({ location: 'x:"><img src=x>', approved: true })
    expect(text).not.toContain('<img')
  })

  it('has no script, no inline style attribute, no form and does not go on by itself', () => {
    expect(continued).not.toMatch(/<script|\sstyle=|\son\w+=|<form|http-equiv|target=/i)
  })
})

describe('unverifiedPage', () => {
  it('names where its one link leads, and says that nothing was shared', () => {
    const page = unverifiedPage({
      location: 'https://notes.example/cb?error=invalid_scope&state=a',
      cause: 'refusal',
    })
    expect(page).toContain('No access was given.')
    expect(page).toContain('<bdi>notes.example</bdi>')
    expect(page.match(/<a [^>]*>/g)).toEqual([
      '<a href="https://notes.example/cb?error=invalid_scope&amp;state=a" rel="noreferrer" referrerpolicy="no-referrer">',
    ])
  })

  it('for a failure of the server blames no request, and says to try again', () => {
    const page = unverifiedPage({
      location: 'https://notes.example/cb?error=temporarily_unavailable',
      cause: 'trouble',
    })
    expect(page.match(/<h1>[^]*?<\/h1>/g)).toEqual(['<h1>This is not possible right now</h1>'])
    expect(page).toContain('No access was given.')
    expect(page).toContain('reload this page to try again')
    expect(page).not.toMatch(/cannot go on|nobody here has checked/)
    expect(page.match(/<a /g)).toHaveLength(1)
  })

  it('escapes a location that tries to be HTML', () => {
    expect(unverifiedPage({ location: `notes:/"'><script>alert(1)</script>`, cause: 'refusal' })).not.toMatch(
      /<script|'>|"'/,
    )
  })
})

const insecure = { location: 'http://old.example/callback?code=ac_1&state=a', granted: true }

describe('insecureRedirectPage', () => {
  it('says that the connection is not protected, in the title and in the one heading', () => {
    const page = insecureRedirectPage(insecure)
    expect(page).toContain('<title>The way back is not protected</title>')
    expect(page.match(/<h1>[^]*?<\/h1>/g)).toEqual(['<h1>The way back is not protected</h1>'])
    expect(page).toContain('without encryption')
  })

  it('names where the link leads, and leads there with every byte of the answer', () => {
    const page = insecureRedirectPage(insecure)
    expect(page).toContain('<bdi>http://old.example</bdi>')
    expect(page.match(/<a [^>]*>/g)).toEqual([
      '<a href="http://old.example/callback?code=ac_1&amp;state=a" rel="noreferrer" referrerpolicy="no-referrer">',
    ])
  })

  it('says what closing the page means', () => {
    expect(insecureRedirectPage(insecure)).toContain('the app then gets no access')
    const refused = insecureRedirectPage({ ...insecure, granted: false })
    expect(refused).toContain('No access was given.')
    expect(refused).not.toContain('just allowed')
  })

  it('escapes a location that tries to be HTML', () => {
    const page = insecureRedirectPage({
      ...insecure,
      location: `http://old.example/"'><script>alert(1)</script>`,
    })
    expect(page).not.toMatch(/<script|'>|"'/)
  })

  it('has no script, no inline style attribute, no form and nothing that goes on by itself', () => {
    expect(insecureRedirectPage(insecure)).not.toMatch(
      /<script|\sstyle=|\son\w+=|<form|http-equiv|<img|<iframe/i,
    )
  })
})

const seen = '\uFFFD'

/** What a client, an owner or a scope may be called, and how a page shows it. */
const names: readonly [string, string, string][] = [
  ['markup', '<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
  ['the end of an attribute', `"><img src=x onerror='a'>`, '&quot;&gt;&lt;img src=x onerror=&#39;a&#39;&gt;'],
  ['the end of a title', '</title><script>', '&lt;/title&gt;&lt;script&gt;'],
  ['what looks escaped', '&lt;b&gt;&#x202e;', '&amp;lt;b&amp;gt;&amp;#x202e;'],
  ['a template', '{{constructor}} ${7*7} <%= x %>', '{{constructor}} ${7*7} &lt;%= x %&gt;'],
  ['replacement patterns', "$& $1 $` $'", '$&amp; $1 $` $&#39;'],
  ['an override of the direction', 'Photo\u202Ekcab', `Photo${seen}kcab`],
  ['isolates', '\u2066Photo\u2069', `${seen}Photo${seen}`],
  ['a zero width space', 'Pho\u200Bto', `Pho${seen}to`],
  ['a word joiner', 'Pho\u2060to', `Pho${seen}to`],
  ['a byte order mark', 'Pho\uFEFFto', `Pho${seen}to`],
  ['a soft hyphen', 'Pho\u00ADto', `Pho${seen}to`],
  ['a Hangul filler', 'Photo\u3164', `Photo${seen}`],
  ['a note without a head', 'Pho\u{1D159}to', `Pho${seen}to`],
  ['a line separator', 'Photo\u2028Book', `Photo${seen}Book`],
  ['a control character', 'Pho\u0000to\u001B[2J', `Pho${seen}to${seen}[2J`],
  ['half of a pair', 'Photo\uD83D', `Photo${seen}`],
  ['the other half', '\uDE00Photo', `${seen}Photo`],
  ['tag characters', 'Photo\u{E0045}\u{E0076}\u{E007F}', 'Photo'],
  ['a variation selector', 'Pho\uFE0Fto', 'Photo'],
  ['a variation selector of the supplement', 'Photo\u{E0100}', 'Photo'],
  ['a variation selector of Mongolian', 'Pho\u180Bto', 'Photo'],
  ['a grapheme joiner', 'Pho\u034Fto', 'Photo'],
  ['a format character of shorthand', 'Photo\u{1BCA0}', 'Photo'],
  ['joiners that join nothing', '\u200DPho\u200Cto\u200D', 'Photo'],
  ['joiners one after the other', 'عکس\u200C\u200Cها', 'عکس\u200Cها'],
  ['a flag that is spelt in tags', '🏴\u{E0067}\u{E0062}\u{E007F} Photo', '🏴 Photo'],
  ['an emoji with a selector', '❤\uFE0F Photo', '❤ Photo'],
  ['a couple with joiners and a selector', '👩\u200D❤\uFE0F\u200D👨 Photo', '👩\u200D❤\u200D👨 Photo'],
  ['a family with joiners', '👩‍👩‍👧 Photo', '👩‍👩‍👧 Photo'],
  ['a skin tone before a joiner', '👩🏽\u200D🚀 Photo', '👩🏽\u200D🚀 Photo'],
  ['a conjunct of Devanagari', 'क्\u200Dष फ़ोटो', 'क्\u200Dष फ़ोटो'],
  ['letters from right to left', 'תמונות', 'תמונות'],
  ['letters of another script', 'عکس‌ها', 'عکس‌ها'],
]

const pageWith = (name: string) =>
  consentPage(
    consentView({
      client: { client_id: 'photo', client_name: name, description: name },
      resourceOwner: { subject: 'alice', name },
      scope: [consentScope({ token: 'a', description: name })],
      fields: { authorization_request: name },
      redirectTo: 'https://a.example/',
    }),
    english,
  )

describe('a name that is hostile', () => {
  it.each(names)('is shown for what it is on the consent page: %s', (_what, name, shown) => {
    const page = pageWith(name)
    expect(page).toContain(`<title>Allow ${shown} to access your account?</title>`)
    expect(page).toContain(`<bdi class="name">${shown}</bdi>`)
    expect(page.split(shown).length - 1).toBe(6)
    expect(page.includes(name)).toBe(name === shown)
    expect(page).not.toMatch(/<script|<img|onerror='/)
    expect(page).not.toMatch(/\p{Cs}/u)
  })

  it.each(names)('is shown for what it is on the error page: %s', (_what, name, shown) => {
    const page = errorPage({
      ...refusal,
      title: name,
      happened: name,
      advice: name,
      message: name,
      code: name,
      requestId: name,
      wayBack: { clientName: name, uri: 'https://photo.example/' },
    })
    expect(page.split(shown).length - 1).toBe(8)
    expect(page).not.toMatch(/\p{Cs}/u)
  })

  it.each([
    ' ',
    '\u200D',
    '\u200C\u200D',
    '\u0301',
    '\t',
    '\u{E0041}\u{E0042}',
    '\uFE0F',
    '\u034F',
    '\u3164',
    '\u2800',
    '\u200B\u00AD',
    '\u202E',
    '\uFFFD',
  ])('that shows nothing (%j) gives way to the identifier', (name) => {
    expect(pageWith(name)).toContain('<bdi class="name">photo</bdi>')
  })

  it.each([
    ['\u3164Photo', 'P'],
    ['\u{E0041}Photo', 'P'],
  ])('takes no initial that shows nothing: %j', (name, initial) => {
    expect(pageWith(name)).toContain(`<div class="mark" aria-hidden="true">${initial}</div>`)
  })
})
