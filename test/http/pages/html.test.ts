import { createHash } from 'node:crypto'
import { html, pageDocument } from '../../../lib/http/pages/html'
import { stylesheet, stylesheetHash } from '../../../lib/http/pages/stylesheet'

const REPLACEMENT = '\uFFFD'

describe('html', () => {
  it('keeps the template and escapes what stands in it', () => {
    expect(String(html`<b title="${`"'`}">${'<i>&</i>'}</b>`)).toBe(
      '<b title="&quot;&#39;">&lt;i&gt;&amp;&lt;/i&gt;</b>',
    )
  })

  it('escapes what already looks escaped', () => {
    expect(String(html`${'&lt;'}`)).toBe('&amp;lt;')
  })

  it('keeps nested markup as it is', () => {
    const nested = html`<i>${'<'}</i>`
    expect(String(html`<b>${nested}</b>`)).toBe('<b><i>&lt;</i></b>')
  })

  it('joins a list of markup without a separator', () => {
    expect(String(html`${['a', 'b'].map((item) => html`<li>${item}</li>`)}`)).toBe('<li>a</li><li>b</li>')
  })

  it('leaves nothing of undefined, false and an empty list', () => {
    expect(String(html`[${undefined}${false}${[]}]`)).toBe('[]')
  })

  it.each([
    ['NUL', '\u0000'],
    ['escape', '\u001B'],
    ['delete', '\u007F'],
    ['next line (C1)', '\u0085'],
    ['Arabic letter mark', '\u061C'],
    ['left-to-right mark', '\u200E'],
    ['right-to-left mark', '\u200F'],
    ['left-to-right embedding', '\u202A'],
    ['right-to-left embedding', '\u202B'],
    ['pop directional formatting', '\u202C'],
    ['left-to-right override', '\u202D'],
    ['right-to-left override', '\u202E'],
    ['left-to-right isolate', '\u2066'],
    ['right-to-left isolate', '\u2067'],
    ['first strong isolate', '\u2068'],
    ['pop directional isolate', '\u2069'],
  ])('replaces every %s', (_name, character) => {
    expect(String(html`${`a${character}b${character}`}`)).toBe(`a${REPLACEMENT}b${REPLACEMENT}`)
  })

  it.each([
    ['tag character', '\u{E0041}'],
    ['variation selector', '\uFE0F'],
    ['grapheme joiner', '\u034F'],
    ['joiner that joins nothing', '\u200D'],
  ])('leaves out every %s', (_name, character) => {
    expect(String(html`${`a${character}b${character}`}`)).toBe('ab')
  })

  it.each(['tab\tand\r\nline break', 'שלום', 'Zoë', '👩‍🚀'])('leaves %j as it is', (text) => {
    expect(String(html`${text}`)).toBe(text)
  })

  it('lets no raw string pass for markup', () => {
    // @ts-expect-error a list of strings is no list of markup
    expect(String(html`${['<b>']}`)).toBe('&lt;b&gt;')
    // @ts-expect-error a page's content is markup
    pageDocument({ title: 'Title', content: '<script>alert(1)</script>' })
  })

  it('lets no look-alike object pass for markup', () => {
    const forged: unknown = JSON.parse('{ "text": "<b>", "toString": "<b>" }')
    // @ts-expect-error only the tag makes markup
    expect(() => html`${forged}`).toThrow(TypeError)
  })
})

describe('pageDocument', () => {
  const page = pageDocument({ title: '</title><script>', content: html`<p>Content</p>` })

  it('starts in standards mode, in a language, at the width of the device', () => {
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/)
    expect(page).toContain('<meta name="viewport" content="width=device-width, initial-scale=1" />')
  })

  it('escapes the title', () => {
    expect(page).toContain('<title>&lt;/title&gt;&lt;script&gt;</title>')
  })

  it('holds the stylesheet byte for byte as its hash allows it', () => {
    const style = /<style>([^]*)<\/style>/.exec(page)?.[1] ?? ''
    expect(stylesheetHash).toBe(`'sha256-${createHash('sha256').update(style).digest('base64')}'`)
  })

  it('fetches nothing', () => {
    expect(stylesheet).not.toMatch(/url\(|@import|@font-face/)
    expect(page).not.toMatch(/ (src|href)=/)
  })

  it('sends its address to no other site, and still an origin with its form', () => {
    expect(page).toContain('<meta name="referrer" content="same-origin" />')
  })
})
