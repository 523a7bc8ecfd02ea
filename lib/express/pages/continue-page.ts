import { pageDocument } from './document'
import { html } from './html'
import { destination } from './web-link'

/** Where the resource owner goes on to, with the whole answer in it, and whether it grants anything. */
export interface ContinueView {
  readonly location: string
  readonly approved: boolean
}

/**
 * Renders the way back to the client as a link, for user agents that lose the fragment of a redirect (RFC 6749 4.2.2).
 * The link holds the answer, so it opens in place and tells its target nothing of this page.
 */
export function continuePage({ location, approved }: ContinueView): string {
  const title = approved ? 'You allowed access' : 'No access was given'
  return pageDocument({
    title,
    content: html`
      <header class="intro">
        <div class="${approved ? 'mark' : 'mark caution'}" aria-hidden="true">${approved ? '✓' : '!'}</div>
        <h1>${title}</h1>
        <p>One step is left: go back to <bdi>${destination(location)}</bdi>.</p>
      </header>
      <div class="actions">
        <a class="primary" href="${location}" rel="noreferrer" referrerpolicy="no-referrer">Continue</a>
      </div>
      ${
        approved &&
        html`<footer class="fineprint"><p>The link is yours alone: it holds the access you gave.</p></footer>`
      }
    `,
  })
}
