import { html, type Html } from './html'
import { stylesheet } from './stylesheet'

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
