import { consentPage, type ConsentView } from '../../../lib/http/pages/consent-page'
import { createPageLocales } from '../../../lib/http/pages/texts/locale'
import { consentScope, consentView } from '../../support/consent-view'

const view = consentView()
const english = createPageLocales().choose(undefined, undefined)

// The stylesheet has its own tests, and would fill the screen when one of these fails. Where Prettier breaks
// a line inside a tag is nothing to test.
function pageOf(changed: Partial<ConsentView> = {}): string {
  return consentPage({ ...view, ...changed }, english)
    .replace(/<style>[^]*<\/style>/, '')
    .replace(/\s+>/g, '>')
}

function pageOfClient(changed: Partial<ConsentView['client']>): string {
  return pageOf({ client: { ...view.client, ...changed } })
}

const hostile = '"><script>alert(1)</script>'
const linkFields = ['client_uri', 'policy_uri', 'tos_uri'] as const

describe('consentPage: the client', () => {
  it('names the client in the title and in the one heading', () => {
    const page = pageOf()
    expect(page).toContain('<title>Allow Calendar Sync to access your account?</title>')
    expect(page.match(/<h1>/g)).toHaveLength(1)
    expect(page).toContain('<bdi class="name">Calendar Sync</bdi>')
  })

  it.each([undefined, '', ' \u00A0'])('names a client called %j by its client_id', (client_name) => {
    expect(pageOfClient({ client_name })).toContain('<bdi class="name">s6BhdRkqt3</bdi>')
  })

  it.each(['client_id', 'client_name', 'description'] as const)('escapes a %s that is HTML', (field) => {
    const page = pageOf({ client: { client_id: 'id', [field]: hostile } })
    expect(page).not.toContain('<script')
    expect(page).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;')
  })

  it('takes from a client name what would reorder the text around it [consent-16]', () => {
    expect(pageOfClient({ client_name: 'Bank\u202Egnp' })).toContain('<bdi class="name">Bank\uFFFDgnp</bdi>')
  })

  it('shows what the client says of itself, and no empty paragraph', () => {
    expect(pageOfClient({ description: 'Keeps time.' })).toMatch(
      /<p class="description"[^>]*>Keeps time\.<\/p>/,
    )
    expect(pageOfClient({ description: '' })).not.toContain('class="description"')
  })
})

describe('consentPage: a client that is not registered here', () => {
  const unregistered = { host: 'calendar.example.net:8443' }
  const pageTo = (receiver: ConsentView['receiver']) =>
    pageOf({ client: { ...view.client, unregistered }, receiver })

  it('stands beside the host that describes it, and says that it is unregistered', () => {
    const page = pageTo('web')
    expect(page).toContain('<span class="origin">an app of <bdi>calendar.example.net:8443</bdi></span>')
    expect(page).toContain('This app is not registered here.')
    expect(page).not.toContain('on this device')
  })

  it.each([
    ['device', 'a program on this device'],
    ['app', 'Another app could take its place'],
  ] as const)('warns of an answer to the %s', (receiver, warning) => {
    expect(pageTo(receiver)).toContain(warning)
  })

  it('that registered itself stands beside no host, and says so', () => {
    const page = pageOf({ client: { ...view.client, unregistered: { host: undefined } } })
    expect(page).toContain('This app registered itself here.')
    expect(page).not.toMatch(/class="origin"|All that is certain/)
  })

  it('escapes the host', () => {
    const page = pageOf({ client: { ...view.client, unregistered: { host: hostile } } })
    expect(page).not.toContain('<script')
  })

  it.each(['web', 'device', 'app'] as const)(
    'is marked, and the page of a registered client at the %s is not',
    (receiver) => {
      expect(pageTo(receiver)).toContain('<span class="badge">Not verified</span>')
      expect(pageOf({ receiver })).not.toMatch(/not registered|class="origin"|Not verified/)
    },
  )

  it('shows its initial in place of its logo, which its server could watch', () => {
    const logo_uri = 'https://calendar.example.net/logo.png'
    const page = pageOf({ client: { ...view.client, logo_uri, unregistered } })
    expect(page).not.toMatch(/<img|logo\.png/)
  })
})

describe('consentPage: logo', () => {
  it('shows a logo over https, without a referrer [consent-23]', () => {
    expect(pageOfClient({ logo_uri: 'https://cdn.example.com/logo.png' })).toContain(
      '<img src="https://cdn.example.com/logo.png" alt="C" referrerpolicy="no-referrer" />',
    )
  })

  it.each([
    undefined,
    '',
    'http://cdn.example.com/logo.png',
    'data:image/svg+xml,<svg/>',
    'javascript:alert(1)',
    '/logo.png',
    '//cdn.example.com/logo.png',
  ])('shows the initial instead of the logo %j', (logo_uri) => {
    const page = pageOfClient({ logo_uri })
    expect(page).not.toContain('<img')
    expect(page).toContain('<div class="mark" aria-hidden="true">C</div>')
  })

  it.each([
    ['ñandu', 'Ñ'],
    ['«quoted»', 'Q'],
    ['🚀 launch', '🚀'],
    ['...', '?'],
  ])('takes from the name %s the initial %s', (client_name, initial) => {
    expect(pageOfClient({ client_name })).toContain(`<div class="mark" aria-hidden="true">${initial}</div>`)
  })

  it('lets a logo URL not leave its attribute', () => {
    const page = pageOfClient({ logo_uri: `https://cdn.example.com/${hostile}` })
    expect(page).toContain('<img src="https://cdn.example.com/%22%3E%3Cscript%3Ealert(1)%3C/script%3E" alt')
  })
})

describe('consentPage: links', () => {
  it.each([
    ['client_uri', '<bdi>example.com</bdi>'],
    ['policy_uri', 'Privacy policy'],
    ['tos_uri', 'Terms of service'],
  ])('links to the %s in a tab that knows nothing of this page', (field, text) => {
    expect(pageOfClient({ [field]: 'https://example.com/a?b&c' })).toContain(
      `<a href="https://example.com/a?b&amp;c" target="_blank" rel="noopener noreferrer nofollow">${text}</a>`,
    )
  })

  it.each(linkFields)('links to a %s over http too', (field) => {
    expect(pageOfClient({ [field]: 'http://example.com/' })).toContain('<a href="http://example.com/"')
  })

  describe.each(linkFields)('%s', (field) => {
    it.each([
      'javascript:alert(1)',
      ' JaVaScRiPt:alert(1)',
      'java\nscript:alert(1)',
      'data:text/html,<p>',
      'ftp://example.com/',
      '/relative',
      'not a url',
      '',
    ])('makes no link of %j [consent-17]', (uri) => {
      expect(pageOfClient({ [field]: uri })).not.toContain('<a ')
    })
  })

  it('names a website by the host that it is really on [consent-18]', () => {
    const page = pageOfClient({ client_uri: 'https://bank.example@evil.example/bank.example' })
    expect(page).toContain('><bdi>evil.example</bdi></a>')
  })
})

describe('consentPage: scope', () => {
  it('describes every scope, with its token beside it', () => {
    const page = pageOf({
      scope: [
        consentScope({ token: 'calendar.read', description: 'See your calendars' }),
        consentScope({ token: 'email', description: 'See your address' }),
      ],
    })
    expect(page.match(/<li>/g)).toHaveLength(2)
    expect(page).toContain('See your calendars</span><code>calendar.read</code>')
    expect(page).toContain('See your address</span><code>email</code>')
  })

  it('shows a token once that is its own description', () => {
    const page = pageOf({ scope: [consentScope({ token: 'repo', description: 'repo' })] })
    expect(page.match(/repo/g)).toHaveLength(1)
  })

  it('escapes a scope that is HTML', () => {
    const page = pageOf({ scope: [consentScope({ token: hostile, description: `It ${hostile}` })] })
    expect(page).not.toContain('<script')
  })

  it('says so when no scope is asked for', () => {
    const page = pageOf({ scope: [] })
    expect(page).toContain('It asks for no particular permission.')
    expect(page).not.toContain('<ul>')
  })
})

describe('consentPage: who and where to', () => {
  it('says who is signed in, by name or else by subject', () => {
    expect(pageOf()).toContain('<bdi>Ada Lovelace</bdi>')
    expect(pageOf({ resourceOwner: { subject: 'u-8842' } })).toContain('<bdi>u-8842</bdi>')
  })

  it('escapes a resource owner that is HTML', () => {
    expect(pageOf({ resourceOwner: { subject: hostile } })).not.toContain('<script')
  })

  it.each([
    ['https://calendar.example.com/oauth/callback?x=1', 'calendar.example.com'],
    ['https://calendar.example.com:8443/cb', 'calendar.example.com:8443'],
    ['https://bank.example@evil.example/cb', 'evil.example'],
    ['https://b\u0430nk.example/cb', 'xn--bnk-6cd.example'],
    ['http://127.0.0.1:51004/cb', 'http://127.0.0.1:51004'],
    ['com.example.calendar:/cb', 'an app on this device (com.example.calendar:)'],
    ['com.example.calendar://bank.example/cb', 'an app on this device (com.example.calendar:)'],
  ])('says of %s that it returns to %s', (redirectTo, named) => {
    expect(pageOf({ redirectTo })).toContain(`<dd><bdi>${named}</bdi></dd>`)
  })

  it('makes no link of the destination', () => {
    expect(pageOf()).not.toContain('<a ')
  })

  it('shows a destination that is no URL as it is, escaped', () => {
    expect(pageOf({ redirectTo: '<b>' })).toContain('<dd><bdi>&lt;b&gt;</bdi></dd>')
  })
})

describe('consentPage: the decision', () => {
  it('posts to the action, and a browser restores no older fields into it', () => {
    expect(pageOf()).toContain('<form method="post" action="/authorize/decision" autocomplete="off">')
  })

  it('carries every field, hidden', () => {
    const page = pageOf({ fields: { handle: 'p_abc', csrf: 'x&y' } })
    expect(page.match(/<input /g)).toHaveLength(2)
    expect(page).toContain('<input type="hidden" name="handle" value="p_abc" />')
    expect(page).toContain('<input type="hidden" name="csrf" value="x&amp;y" />')
  })

  it('escapes an action and fields that are HTML', () => {
    expect(pageOf({ action: hostile, fields: { [hostile]: hostile } })).not.toContain('<script')
  })

  it('offers the refusal first, so that it is the default of the form [consent-14]', () => {
    expect(pageOf().match(/<button [^>]*value="\w+"[^>]*>\w+/g)).toEqual([
      '<button type="submit" name="decision" value="deny" formnovalidate>Cancel',
      '<button type="submit" name="decision" value="approve" class="primary">Allow',
    ])
  })

  it('has no script and no inline style attribute [consent-21]', () => {
    const page = pageOfClient({ logo_uri: 'https://example.com/l.png', client_uri: 'https://example.com/' })
    expect(page).not.toMatch(/<script|\sstyle=|\son\w+=/i)
    expect(page).not.toContain('<style')
  })
})

describe('what extensions add to the consent page', () => {
  it('stands beside its label, each value on a line of its own, and nothing of it is markup', () => {
    const values = [
      { value: 'https://api.example/mcp', description: 'Notes <b>' },
      { value: 'https://print.example', description: 'https://print.example' },
    ]
    const page = pageOf({ facts: [{ name: 'resource', label: 'Access to', values }] })
    expect(page).toContain('<dt dir="auto">Access to</dt>')
    expect(page).toContain('<bdi>Notes &lt;b&gt;</bdi> <code>https://api.example/mcp</code>')
    expect(page.split('https://print.example')).toHaveLength(2)
  })
})
