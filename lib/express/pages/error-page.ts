import { pageDocument } from './document'
import { html } from './html'

/** What the resource owner is told of a request that cannot go on, and what support needs to find it. */
export interface ErrorView {
  readonly title: string
  readonly message: string
  readonly code: string
  readonly requestId: string
}

/** Renders the failure as a whole document that says that nothing was shared; every value is escaped. */
export function errorPage(view: ErrorView): string {
  return pageDocument({
    title: view.title,
    content: html`
      <header class="intro">
        <div class="mark caution" aria-hidden="true">!</div>
        <h1>${view.title}</h1>
        <p dir="auto">${view.message}</p>
      </header>
      <p class="assurance">
        <strong>Nothing was shared.</strong>
        You can close this page, or return to the app you came from.
      </p>
      <footer class="fineprint">
        <p>Reference <code>${view.code}</code> <code>${view.requestId}</code></p>
      </footer>
    `,
  })
}
