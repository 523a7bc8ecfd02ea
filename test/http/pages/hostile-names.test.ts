import { consentPage } from '../../../lib/http/pages/consent-page'
import { errorPage } from '../../../lib/http/pages/pages'

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
  ['a line separator', 'Photo\u2028Book', `Photo${seen}Book`],
  ['a control character', 'Pho\u0000to\u001B[2J', `Pho${seen}to${seen}[2J`],
  ['half of a pair', 'Photo\uD83D', `Photo${seen}`],
  ['the other half', '\uDE00Photo', `${seen}Photo`],
  ['a family with joiners', '👩‍👩‍👧 Photo', '👩‍👩‍👧 Photo'],
  ['letters of another script', 'عکس‌ها', 'عکس‌ها'],
]

const pageWith = (name: string) =>
  consentPage({
    client: { client_id: 'photo', client_name: name, description: name },
    resourceOwner: { subject: 'alice', name },
    scope: [{ token: 'a', description: name }],
    action: '?',
    fields: { authorization_request: name },
    redirectTo: 'https://a.example/',
  })

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
    const page = errorPage({ title: name, message: name, code: name, requestId: name })
    expect(page.split(shown).length - 1).toBe(5)
    expect(page).not.toMatch(/\p{Cs}/u)
  })

  it.each([' ', '\u200D', '\u200C\u200D', '\u0301', '\t'])(
    'that shows nothing (%j) gives way to the identifier',
    (name) => {
      expect(pageWith(name)).toContain('<bdi class="name">photo</bdi>')
    },
  )
})
