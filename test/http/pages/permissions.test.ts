import { consentPage, type ConsentView } from '../../../lib/http/pages/consent-page'
import { createPageLocales } from '../../../lib/http/pages/texts/locale'
import { consentScope, consentView } from '../../support/consent-view'

const english = createPageLocales().choose('en', undefined)
const pageOf = (changed: Partial<ConsentView>) =>
  consentPage(consentView(changed), english)
    .replace(/<style>[^]*<\/style>/, '')
    .replaceAll(/\s+>/g, '>')

const scope = [
  consentScope({ token: 'erase', description: 'Erase', group: 'Photos', weight: 'danger' }),
  consentScope({ token: 'see', description: 'See', group: 'Photos' }),
  consentScope({ token: 'name', description: 'Name' }),
  consentScope({ token: 'add', description: 'Add', group: 'Photos', weight: 'write', field: 'scope:add' }),
  consentScope({ token: 'mail', description: 'Mail', group: 'Profile' }),
]

describe('The permissions', () => {
  it('stand in groups, in the order in which the first of each appears, and dangerous ones last', () => {
    const texts = [...pageOf({ scope }).matchAll(/<h3 dir="auto">([^<]*)|<span dir="auto">([^<]*)/g)]
    expect(texts.map(([, heading, description]) => heading ?? description)).toEqual([
      'Photos',
      'See',
      'Add',
      'Name',
      'Profile',
      'Mail',
      'Think twice before you allow this',
      'Erase',
    ])
  })

  it('that the owner has allowed before stand last, below their own heading, with their marks', () => {
    const known = scope.map((each) => ({ ...each, allowedBefore: each.token !== 'name' }))
    const texts = [...pageOf({ scope: known }).matchAll(/<h3 dir="auto">([^<]*)|<span dir="auto">([^<]*)/g)]
    expect(texts.map(([, heading, description]) => heading ?? description)).toEqual([
      'Name',
      'You have allowed this already',
      'Erase',
      'See',
      'Add',
      'Mail',
    ])
    expect(pageOf({ scope: known })).toContain('Far-reaching')
  })

  it('are marked by their weight', () => {
    const page = pageOf({ scope })
    expect(page.match(/<strong class="weight">Far-reaching<\/strong>/g)).toHaveLength(1)
    expect(page.match(/<span class="weight">Makes changes<\/span>/g)).toHaveLength(1)
  })

  it('have a box where they are optional, which is empty, and an explanation', () => {
    const page = pageOf({ scope })
    expect(page.match(/<input type="checkbox"[^>]*>/g)).toEqual([
      '<input type="checkbox" name="scope:add" value="yes" />',
    ])
    expect(page).toContain('the app gets only what you tick')
    expect(pageOf({})).not.toMatch(/checkbox|what you tick/)
  })

  it('escape groups and fields', () => {
    const hostile = '"><script>'
    const page = pageOf({ scope: [consentScope({ group: hostile, field: hostile, description: hostile })] })
    expect(page).not.toContain('<script')
  })
})

const answers = [
  { value: 'a&1', label: 'One <b>' },
  { value: 'b', label: 'Two' },
]

describe('The question', () => {
  const question = { text: 'Which one?', field: 'choice', answers }

  it('has few answers as radio buttons, and none is chosen', () => {
    const page = pageOf({ question })
    expect(page).toContain('<legend dir="auto">Which one?</legend>')
    expect(page.match(/<input type="radio"[^>]*>/g)).toEqual([
      '<input type="radio" name="choice" value="a&amp;1" required />',
      '<input type="radio" name="choice" value="b" required />',
    ])
    expect(page).toContain('<bdi>One &lt;b&gt;</bdi>')
  })

  it('has many answers as a list, which begins with none', () => {
    const many = Array.from({ length: 7 }, (_, index) => ({ value: `v${index}`, label: `L${index}` }))
    const page = pageOf({ question: { ...question, answers: many } })
    expect(page).toContain('<select name="choice" required>')
    expect(page.match(/<option value="[^"]*"/g)).toHaveLength(8)
    expect(page).toContain('<option value="">Please choose</option>')
    expect(page).not.toContain('type="radio"')
  })
})

describe('The consent page', () => {
  it('with an obstacle has one button, and says why', () => {
    const page = pageOf({ obstacle: 'No workspace <b>.', question: { text: 'Q', field: 'choice', answers } })
    expect(page.match(/<button [^>]*>/g)).toEqual([
      '<button type="submit" name="decision" value="deny" formnovalidate>',
    ])
    expect(page).toContain('No workspace &lt;b&gt;.')
    expect(page).not.toContain('type="radio"')
  })

  it('leads to another account, and to the place where the access ends, if there is one', () => {
    const page = pageOf({ switchAccount: '/login?a&b', manageAt: '/authorizations' })
    expect(page).toContain('<a href="/login?a&amp;b">Not you?</a>')
    expect(page).toContain(
      'under <a href="/authorizations" target="_blank" rel="noopener">Connected applications</a>.',
    )
    expect(pageOf({})).not.toMatch(/Not you|Connected applications/)
  })

  it('names the service, and shows its logo', () => {
    const service = { name: 'Lumen <b>', logo: '/logo.svg' }
    const page = consentPage(consentView({ service }), { ...english, service })
    expect(page).toContain('wants to access your account at <bdi>Lumen &lt;b&gt;</bdi>')
    expect(page).toContain('<img src="/logo.svg" alt="" />')
  })
})
