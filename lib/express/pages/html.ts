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

// Tab and line breaks are plain white space in HTML. Every other control character, and whatever reorders
// the text around it, lets a name look like another one or like part of the page.
const deceptive = /(?![\t\n\r])\p{Cc}|\p{Bidi_Control}/gu

function escape(text: string): string {
  return text.replace(deceptive, '\uFFFD').replace(/[&<>"']/g, (character) => entities.get(character) ?? '')
}

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Markup) return value.toString()
  return typeof value === 'string' ? escape(value) : value.map(render).join('')
}

/** Makes markup of a template: its own text is kept, every interpolated value is escaped. */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Markup(template.reduce((text, part, index) => text + render(values[index - 1]) + part))
}
