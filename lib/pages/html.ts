import { createHash } from 'node:crypto'
import { stylesheet } from './stylesheet'

// Control characters, and what reorders text, looks like a gap or stays unseen: a mark replaces each.
const deceptive =
  /(?![\t\n\r])\p{Cc}|\p{Bidi_Control}|\p{Cs}|[\u00AD\u115F\u1160\u17B4\u17B5\u180E\u200B\u2028\u2029\u2060-\u206F\u2800\u3164\uFEFF\uFFA0\uFFF9-\uFFFC\u{16FE4}\u{1D159}]/gu

// Variation selectors, tag characters, U+034F. No mark, as emoji and several scripts have them.
const ignorable = /(?![\u200C\u200D])\p{Default_Ignorable_Code_Point}/gu

const joiningScripts = ['Arab', 'Syrc', 'Mong', 'Nkoo', 'Mand', 'Adlm', 'Rohg']
const conjunctScripts = 'Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr'.split(' ')
const letter = `[${[...joiningScripts, ...conjunctScripts].map((script) => `\\p{scx=${script}}`).join('')}]`
const picture = '[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]'

// RFC 5892 A.1 and A.2: joiners show in some scripts, U+200D between pictures. Looks at the script alone.
const idleJoiner = new RegExp(
  `(?<!${letter})\\u200C|\\u200C(?!${letter})|(?<!${letter}|${picture})\\u200D|(?<=${picture})\\u200D(?!${picture})`,
  'gu',
)

const mark = '\uFFFD'

const printable = /^[\x20-\x7E\t\n\r]*$/

/** Else a name could look like another, or like a part of the page. */
function visibleText(text: string): string {
  if (printable.test(text)) return text
  return text
    .replace(deceptive, mark)
    .replace(ignorable, '')
    .replace(/([\u200C\u200D])[\u200C\u200D]+/g, '$1')
    .replace(idleJoiner, '')
}

export function visibleName(name: string | undefined): string | undefined {
  const visible = visibleText(name ?? '').trim()
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(visible.replaceAll(mark, '')) ? visible : undefined
}

// The private field makes the class nominal, and JSON cannot forge it. Not exported: only the tag `html`
// makes instances.
class Markup {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

/** Every value in it is escaped. Only {@link html} makes it; `String(markup)` is its text. */
export type Html = Markup

/** Text to escape, markup to keep, or nothing. */
export type HtmlValue = string | Html | readonly Html[] | undefined | false

// Needs no escaping.
const plain = /^[\w .,:?!/-]*$/

function escape(text: string): string {
  if (plain.test(text)) return text
  return visibleText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Markup) return value.toString()
  return typeof value === 'string' ? escape(value) : value.map(render).join('')
}

/** Keeps unseen characters: a form sends the text unchanged. */
export const exactly = (text: string): Html =>
  new Markup(text.replace(/[&<>"'\r\n]/g, (one) => `&#${one.charCodeAt(0)};`))

/** Escapes every interpolated value, and keeps only what a person can see. */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = ''
  template.forEach((part, index) => (text += part + render(values[index])))
  return new Markup(text)
}

/** Replaces `{}`. */
export function around(text: string, inner: HtmlValue): Html {
  const [before = '', after = ''] = text.split('{}')
  return html`${before}${inner}${after}`
}

export const hiddenFields = (fields: Readonly<Record<string, string>>): readonly Html[] =>
  Object.entries(fields).map(
    ([key, value]) => html`<input type="hidden" name="${exactly(key)}" value="${exactly(value)}" />`,
  )

export interface PageFrame {
  /** RFC 5646. */
  readonly tag: string
  readonly dir: 'ltr' | 'rtl'
  readonly service: {
    readonly name?: string | undefined
    /** An https URL, or a path of the host. */
    readonly logo?: string | undefined
  }
  /** With the colours of the service. */
  readonly stylesheet: string
}

export interface PageView {
  /** Plain text; names in it need no mark. */
  readonly title: string | Html
  readonly content: Html
  /** Language and look, such as `request.locale` of a page. Default: English, in the colours of the suite. */
  readonly locale?: PageFrame
}

const plainFrame: PageFrame = { tag: 'en', dir: 'ltr', service: {}, stylesheet }

/** Renders a document around one card, without script. It loads only the logo of the service. */
export function pageDocument({ title, content, locale = plainFrame }: PageView): string {
  // With `no-referrer`, browsers send forms with `Origin: null`. `same-origin` also hides the parameters from
  // other sites.
  const head = html`
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="referrer" content="same-origin" />
    <meta name="robots" content="noindex" />
    <title>${title}</title>
  `
  const language = html`lang="${locale.tag}"${locale.dir === 'rtl' && html` dir="rtl"`}`
  const body = html`<main class="card">${serviceMark(locale.service)}${content}</main>`
  return `<!doctype html>
<html ${String(language)}>
<head>${String(head)}<style>${locale.stylesheet}</style></head>
<body>${String(body)}</body>
</html>
`
}

export function notice(
  locale: PageFrame,
  sign: '✓' | '!' | undefined,
  title: string,
  text: HtmlValue,
  rest?: HtmlValue,
): string {
  const look = sign === '✓' ? 'mark' : 'mark caution'
  const content = html`
    <header class="intro">
      ${sign !== undefined && html`<div class="${look}" aria-hidden="true">${sign}</div>`}
      <h1>${title}</h1>
      <p>${text}</p>
    </header>
    ${rest}
  `
  return pageDocument({ title, content, locale })
}

export const row = (term: string, details: HtmlValue): Html =>
  html`<div>
    <dt>${term}</dt>
    <dd>${details}</dd>
  </div>`

function serviceMark({ name, logo }: PageFrame['service']): Html | undefined {
  if (name === undefined && logo === undefined) return undefined
  return html`<p class="service">
    ${logo !== undefined && html`<img src="${logo}" alt="" />`}${name !== undefined && html`<bdi>${name}</bdi>`}
  </p>`
}

// A field called `submit` would hide the form's method. The button rests, so no press sends twice.
const script = `
  for (const form of document.forms) {
    form.querySelector('button').disabled = true
    HTMLFormElement.prototype.submit.call(form)
  }
`

// No template: bundlers rewrite one with the end of a script element.
export const submitScript: Html = new Markup('<script>' + script + '</script>')

export const submitScriptSource = `'sha256-${createHash('sha256').update(script).digest('base64')}'`
