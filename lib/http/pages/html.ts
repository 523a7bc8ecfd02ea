import { stylesheet } from './stylesheet'

// A class with a private field is nominal in TypeScript and cannot be forged from JSON at run time. It is
// not exported, so the tag below is the only way to make one.
class Markup {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

/** Markup in which every value has been escaped. Only {@link html} makes it; `String(it)` is the text. */
export type Html = Markup

/** What a template may hold: text to escape, markup to keep, a list of markup to join, or nothing. */
export type HtmlValue = string | Html | readonly Html[] | undefined | false

const entities = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])

// Tab and line breaks are plain white space in HTML. Every other control character, whatever reorders the text around
// it, and whatever is not seen at all lets a name look like another one or like part of the page. The joiners (U+200C,
// U+200D) stay: emoji and scripts are written with them.
const deceptive =
  /(?![\t\n\r])\p{Cc}|\p{Bidi_Control}|\p{Cs}|[\u00AD\u115F\u1160\u17B4\u17B5\u180E\u200B\u2028\u2029\u2060-\u206F\u2800\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]/gu

// Letters, digits and what else stands in most names, sentences and tokens: nothing in it is replaced.
const plain = /^[\w .,:?!/-]*$/

function escape(text: string): string {
  if (plain.test(text)) return text
  return text.replace(deceptive, '\uFFFD').replace(/[&<>"']/g, (character) => entities.get(character) ?? '')
}

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Markup) return value.toString()
  return typeof value === 'string' ? escape(value) : value.map(render).join('')
}

/** Makes markup of a template: its own text is kept, every interpolated value is escaped. */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = ''
  template.forEach((part, index) => (text += part + render(values[index])))
  return new Markup(text)
}

/** One page: its title as plain text, and what stands in the card. */
export interface PageView {
  readonly title: string
  readonly content: Html
}

/** Renders a whole document around one card: no script, one style element, nothing fetched by the frame. */
export function pageDocument(page: PageView): string {
  // With `no-referrer` a browser would post the form with `Origin: null`; `same-origin` keeps the request's
  // parameters from other sites just as well.
  const head = html`
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="referrer" content="same-origin" />
    <meta name="robots" content="noindex" />
    <title>${page.title}</title>
  `
  const body = html`<main class="card">${page.content}</main>`
  return `<!doctype html>
<html lang="en">
<head>${String(head)}<style>${stylesheet}</style></head>
<body>${String(body)}</body>
</html>
`
}
