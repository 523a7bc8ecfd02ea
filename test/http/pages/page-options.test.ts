import { createHash } from 'node:crypto'
import { html } from '../../../lib/http/pages/html'
import { readPageLocales } from '../../../lib/http/pages/page-options'
import { OptionsReader } from '../../../lib/primitives/options-reader'

function read(options: object) {
  const fields = new OptionsReader(options, 'pages')
  return { locales: readPageLocales(fields), issues: fields.issues }
}

const mistakesIn = (options: object) => read(options).issues.map(({ path, message }) => `${path} ${message}`)

describe('pages.languages', () => {
  it.each([[[]], [['pt']], [['en', 'DE']], ['en'], [{}], [null]])('refuses %j', (languages) => {
    expect(mistakesIn({ languages })).toEqual([
      'pages.languages must be a list of languages of the pages, the first for people who read none of the others: en, de, fr, es, ja, ar.',
    ])
  })
})

describe('pages.texts', () => {
  const texts = {
    en: { consent: { allow: 'Connect', title: (client: unknown) => html`Connect ${String(client)}?` } },
    de: { error: { explanations: { tooMany: { advice: 'Warten.' } } } },
  }

  it('replaces single texts, and leaves all others', () => {
    const { locales, issues } = read({ texts })
    expect(issues).toEqual([])
    const { consent } = locales.choose('en', undefined).texts
    expect([consent.allow, consent.cancel, String(consent.title(html`A`))]).toEqual([
      'Connect',
      'Cancel',
      'Connect A?',
    ])
    const { tooMany, unavailable } = locales.choose('de', undefined).texts.error.explanations
    expect(tooMany).toEqual({ happened: 'Es gab zu viele Versuche in kurzer Zeit.', advice: 'Warten.' })
    expect(unavailable.advice).toContain('Moment')
    expect(read({}).locales.choose('en', undefined).texts.consent.allow).toBe('Allow')
  })

  it.each([
    [{ nl: {} }, /^pages\.texts\.nl is not known here; the known names are ar, de, en, es, fr, ja\.$/],
    [{ en: { consents: {} } }, /^pages\.texts\.en\.consents is not known here\. Did you mean consent\?/],
    [
      { en: { consent: { alow: 'x' } } },
      /^pages\.texts\.en\.consent\.alow is not known here\. Did you mean allow\?/,
    ],
    [{ en: { consent: { allow: '' } } }, /^pages\.texts\.en\.consent\.allow must be a text\.$/],
    [{ en: { consent: { allow: () => 'x' } } }, /^pages\.texts\.en\.consent\.allow must be a text\.$/],
    [{ en: { consent: { title: 'x' } } }, /^pages\.texts\.en\.consent\.title must be a function: it gets/],
    [
      { en: { error: { explanations: { other: 'x' } } } },
      /^pages\.texts\.en\.error\.explanations\.other must be an object\.$/,
    ],
    ['en', /^pages\.texts must be an object\.$/],
    [JSON.parse('{ "en": { "__proto__": {} } }'), /^pages\.texts\.en\.__proto__ is not known here/],
  ])('refuses %j', (given, mistake) => {
    expect(mistakesIn({ texts: given })).toEqual([expect.stringMatching(mistake)])
  })
})

describe('pages.service', () => {
  it('has a name in the language of the page, and a logo', () => {
    const { locales, issues } = read({ service: { name: { en: 'Light', de: 'Licht' }, logo: '/logo.svg' } })
    expect(issues).toEqual([])
    expect(locales.choose('de', undefined).service).toEqual({ name: 'Licht', logo: '/logo.svg' })
  })

  it.each([
    'http://a.example/l.png',
    '//a.example/l.png',
    '/\\a.example',
    'logo.png',
    'javascript:alert(1)',
    '',
    1,
  ])('refuses the logo %j', (logo) => {
    expect(mistakesIn({ service: { logo } })).toEqual([
      "pages.service.logo must be an https URL, or a path of this server such as '/logo.svg'.",
    ])
  })

  it.each([
    [{ accent: 'red' }, "pages.service.colors.accent must be a colour such as '#3a56d4'."],
    [{ accent: '#fff' }, "pages.service.colors.accent must be a colour such as '#3a56d4'."],
    [{ accent: '#123456;}' }, "pages.service.colors.accent must be a colour such as '#3a56d4'."],
    [
      { accent: '#ffcc00' },
      'pages.service.colors.accent must have a contrast of at least 4.5 to the colour of its card, #ffffff; it has 1.5.',
    ],
    [
      { background: '#333333' },
      'pages.service.colors.background must have a contrast of at least 4.5 to the colour of its text, #171a21; it has 1.4.',
    ],
    [
      { dark: { accent: '#0b6b4f' } },
      'pages.service.colors.dark.accent must have a contrast of at least 4.5 to the colour of its card, #16191f; it has 2.7.',
    ],
    [
      { dark: { dark: {} } },
      'pages.service.colors.dark.dark is not known here; the known names are accent, background.',
    ],
  ])('refuses the colours %j', (colors, mistake) => {
    expect(mistakesIn({ service: { colors } })).toEqual([mistake])
  })

  it('colours the pages, and the policy allows exactly this stylesheet', () => {
    const { locales, issues } = read({
      service: { colors: { accent: '#0B6B4F', dark: { accent: '#5ad1a8' } } },
    })
    expect(issues).toEqual([])
    const { stylesheet } = locales.choose(undefined, undefined)
    expect(stylesheet).toContain('--accent: #0B6B4F;')
    expect(stylesheet).toContain('--on-accent: #ffffff;')
    expect(stylesheet).toContain('--accent: #5ad1a8;')
    expect(stylesheet).toContain('--on-accent: #000000;')
    expect(locales.styleSource).toBe(`'sha256-${createHash('sha256').update(stylesheet).digest('base64')}'`)
  })
})
