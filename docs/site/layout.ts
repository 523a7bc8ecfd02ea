import { posix } from 'node:path'
import type { Document, Library } from './documents'
import { escaped } from './markdown'

const name = 'express-authorization-server'

// `file:` is for a copy that is read without a server: there, some browsers do not count it to 'self'.
const policy = `default-src 'none'; ${['img', 'style', 'script'].map((kind) => `${kind}-src 'self' file:`).join('; ')}; base-uri 'none'; form-action 'none'`

/** The whole page around the text of a document. */
export function pageOf(document: Document, text: string, { groups }: Library): string {
  const to = (path: string) => posix.relative(posix.dirname(document.path), path)
  const link = (other: Document, attributes = '') =>
    `<a href="${to(other.path)}"${attributes}>${escaped(other.title)}</a>`
  const inOrder = groups.flatMap(({ documents }) => documents)
  const place = inOrder.indexOf(document)
  const neighbour = (step: 1 | -1, words: string, rel: string) => {
    const other = place === -1 ? undefined : inOrder[place + step]
    return other === undefined ? '' : `<p><span>${words}</span> ${link(other, ` rel="${rel}"`)}</p>`
  }
  const entry = (other: Document) => {
    if (other !== document) return `<li>${link(other)}</li>`
    const parts = other.sections
      .filter(({ depth }) => depth === 2)
      .map(({ id, heading }) => `<li><a href="#${id}">${escaped(heading)}</a></li>`)
    const below = parts.length === 0 ? '' : `\n<ul>\n${parts.join('\n')}\n</ul>\n`
    return `<li>${link(other, ' aria-current="page"')}${below}</li>`
  }
  const navigation = groups
    .map(
      ({ title, documents }) =>
        `<h2>${escaped(title)}</h2>\n<ul>\n${documents.map((other) => entry(other)).join('\n')}\n</ul>`,
    )
    .join('\n')
  const markdown = posix.relative(posix.dirname(document.path), document.file)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escaped(document.description)}">
<title>${document.title === name ? name : `${escaped(document.title)} – ${name}`}</title>
<link rel="icon" href="${to('assets/icon.svg')}">
<link rel="stylesheet" href="${to('assets/style.css')}">
<link rel="alternate" type="text/markdown" href="${markdown}">
<script src="${to('assets/search.js')}" defer></script>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header>
<a class="home" href="${to('index.html')}">${name}</a>
<form role="search">
<input type="search" name="q" placeholder="Search" aria-label="Search all pages" autocomplete="off" spellcheck="false">
<p class="count" role="status"></p>
<div class="results" tabindex="-1" hidden></div>
</form>
</header>
<details class="menu">
<summary>Menu</summary>
<nav aria-label="All pages">
${navigation}
</nav>
</details>
<main id="text">
<article>
${text}</article>
<nav class="turn" aria-label="Previous and next page">${neighbour(-1, 'Previous', 'prev')}${neighbour(1, 'Next', 'next')}</nav>
<footer><a href="${markdown}">This page as ${document.file.endsWith('.md') ? 'Markdown' : 'a file'}</a> <a href="${to('llms.txt')}">For language models</a></footer>
</main>
</body>
</html>
`
}
