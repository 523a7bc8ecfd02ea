// The search of the site. It loads the index, a script beside the pages, when a reader comes to the field.
import MiniSearch, { type SearchResult } from 'minisearch'
import { find, searchOptions } from './search-index'

declare global {
  var searchIndex: Parameters<typeof MiniSearch.loadJS>[0]
}

const assets = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : ''
startSearch()
showCurrentPage()

function startSearch(): void {
  const form = document.querySelector('form')
  const field = document.querySelector('input')
  const count = document.querySelector('.count')
  const panel = document.querySelector<HTMLElement>('.results')
  if (!form || !field || !count || !panel) return
  let loading: Promise<MiniSearch> | undefined
  const show = async () => {
    const index = await (loading ??= loadIndex())
    const query = field.value.trim()
    panel.hidden = query === ''
    const results = find(index, query)
    count.textContent = panel.hidden ? '' : countOf(results.length)
    panel.replaceChildren(element('p', countOf(results.length)), ...results.slice(0, 20).map(linkTo))
  }
  for (const event of ['focus', 'input']) field.addEventListener(event, () => void show())
  if (document.activeElement === field) void show()
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    panel.querySelector('a')?.click()
  })
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && form.contains(relatedTarget))) panel.hidden = true
  })
  form.addEventListener('keydown', (event) => {
    const stops = [field, ...panel.querySelectorAll('a')]
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Escape') panel.hidden = true
    if (step === undefined || panel.hidden) return
    event.preventDefault()
    stops[stops.findIndex((stop) => stop === document.activeElement) + step]?.focus()
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target === field) return
    event.preventDefault()
    field.focus()
  })
}

function loadIndex(): Promise<MiniSearch> {
  const script = document.createElement('script')
  script.src = new URL('search-index.js', assets).href
  document.head.append(script)
  return new Promise((resolve) => {
    script.addEventListener('load', () => resolve(MiniSearch.loadJS(globalThis.searchIndex, searchOptions)))
  })
}

function element(tag: string, ...parts: readonly (string | Node)[]): HTMLElement {
  const made = document.createElement(tag)
  made.append(...parts)
  return made
}

const countOf = (count: number) => ({ 0: 'No results', 1: '1 result' })[count] ?? `${count} results`

function linkTo({ id, page, heading, text, terms }: SearchResult): HTMLElement {
  const link = document.createElement('a')
  link.href = new URL(`../${id}`, assets).href
  link.append(element('strong', heading === page ? page : `${page}: ${heading}`))
  link.append(element('span', ...excerptOf(String(text), terms)))
  return link
}

/** The part of a text with most of the words that were found, which it marks. */
function excerptOf(text: string, terms: readonly string[]): readonly (string | Node)[] {
  const words = new RegExp(terms.join('|'), 'gi')
  const partFrom = (start: number) => text.slice(start, start + 160).replace(/\s\S*$/, '')
  const richness = (part: string) => new Set(part.toLowerCase().match(words)).size
  const starts = Array.from(text.matchAll(words), ({ index }) => text.lastIndexOf(' ', index - 40) + 1)
  const start = starts.toSorted((one, other) => richness(partFrom(other)) - richness(partFrom(one)))[0] ?? 0
  const parts = partFrom(start).split(new RegExp(`(${words.source})`, 'i'))
  return [start === 0 ? '' : '… ', ...parts.map((part, at) => (at % 2 === 1 ? element('mark', part) : part))]
}

/** Scrolls the navigation, which stands beside the text on a wide screen, to the page that is open. */
function showCurrentPage(): void {
  const current = document.querySelector<HTMLElement>('[aria-current]')
  const menu = document.querySelector('.menu nav')
  if (current && menu) menu.scrollTop = current.offsetTop - menu.clientHeight / 3
}
