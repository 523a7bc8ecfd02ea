import hljs from 'highlight.js/lib/common'
import http from 'highlight.js/lib/languages/http'
import { Marked, walkTokens, type MarkedToken, type Token } from 'marked'

hljs.registerLanguage('http', http)
hljs.registerAliases('ejs', { languageName: 'xml' })

/** A heading, and what stands below it. */
export interface Section {
  readonly token: Token
  readonly id: string
  readonly heading: string
  readonly depth: number
  readonly text: string
}

/** Where a link of Markdown leads on the site, or undefined for a file that the site has not. */
export type LinkOf = (href: string) => string | undefined

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** The anchor that GitHub makes of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

const isMarked = (_token: Token): _token is MarkedToken => true

/** The words of Markdown, without its marks. */
export function textOf(token: Token): string {
  if (!isMarked(token)) return ''
  switch (token.type) {
    case 'html':
      return ''
    case 'list':
      return token.items.map(({ tokens }) => tokens.map(textOf).join(' ')).join(' ')
    case 'table':
      return [...token.header, ...token.rows.flat()].map(({ tokens }) => wordsOf(tokens)).join(' ')
    case 'br':
      return ' '
    default:
      if ('tokens' in token && token.tokens !== undefined) return wordsOf(token.tokens)
      return 'text' in token ? token.text : ''
  }
}
const wordsOf = (tokens: readonly Token[]) => tokens.map(textOf).join('')

/** The links of Markdown, in their order. */
export function linksIn(tokens: Token[]): readonly string[] {
  const found: string[] = []
  void walkTokens(tokens, (token) => {
    if (token.type === 'link') found.push(token.href)
  })
  return found
}

/** The sections of a page. Its first one has the title. */
export function sectionsOf(tokens: readonly Token[]): readonly Section[] {
  const sections: (Section & { text: string })[] = []
  const ids = new Map<string, number>()
  for (const token of tokens)
    if (token.type === 'heading') {
      const heading = textOf(token)
      const id = anchorOf(heading)
      const before = ids.get(id) ?? 0
      ids.set(id, before + 1)
      sections.push({
        token,
        id: before === 0 ? id : `${id}-${before}`,
        heading,
        depth: token.depth,
        text: '',
      })
    } else {
      const section = sections.at(-1)
      if (section !== undefined) section.text = `${section.text} ${textOf(token)}`.trim()
    }
  return sections
}

function highlighted(code: string, language: string): string {
  return hljs.getLanguage(language) === undefined ? escaped(code) : hljs.highlight(code, { language }).value
}

const cellOf = (tag: string, text: string) => `<${tag}>${text}</${tag}>`

/** A page as HTML. */
export function htmlOf(tokens: Token[], sections: readonly Section[], linkOf: LinkOf): string {
  const marked = new Marked({
    renderer: {
      heading(token) {
        const { id = '', heading = '' } = sections.find((section) => section.token === token) ?? {}
        const anchor = `<a class="anchor" href="#${id}" aria-label="Link to “${escaped(heading)}”">#</a>`
        const text = this.parser.parseInline(token.tokens)
        const tag = `h${token.depth}`
        return `<${tag} id="${id}">${text}${token.depth === 1 ? '' : ` ${anchor}`}</${tag}>\n`
      },
      link({ href, tokens: inline }) {
        const to = linkOf(href)
        const text = this.parser.parseInline(inline)
        return to === undefined ? text : `<a href="${escaped(to)}">${text}</a>`
      },
      image: ({ href, text }) => `<img src="${escaped(href)}" alt="${escaped(text)}" loading="lazy">`,
      code({ text, lang = '' }) {
        const code = highlighted(text, lang)
        return `<pre tabindex="0"><code>${code}\n</code></pre>\n`
      },
      table(token) {
        const cells = (tag: string, row: typeof token.header) =>
          `<tr>${row.map((cell) => cellOf(cell.text === '' ? 'td' : tag, this.parser.parseInline(cell.tokens))).join('')}</tr>`
        const body = token.rows.map((row) => cells('td', row)).join('\n')
        return `<div class="table" tabindex="0"><table>\n<thead>${cells('th', token.header)}</thead>\n<tbody>${body}</tbody>\n</table></div>\n`
      },
    },
  })
  return marked.parser(tokens)
}
