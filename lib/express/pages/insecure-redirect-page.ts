import { pageDocument } from './document'
import { html } from './html'
import { destination } from './web-link'

/** What the resource owner must know before going on to a client over plain HTTP. */
export interface InsecureRedirectView {
  /** The redirection URI with the answer in it. */
  readonly location: string
  /** Whether the answer gives the client access. */
  readonly granted: boolean
}

/** Renders the warning of RFC 6749 3.1.2.1 as a whole document: nothing goes on unless the owner follows its link. */
export function insecureRedirectPage({ location, granted }: InsecureRedirectView): string {
  const title = 'The way back is not protected'
  return pageDocument({
    title,
    content: html`
      <header class="intro">
        <div class="mark caution" aria-hidden="true">!</div>
        <h1>${title}</h1>
        <p>
          The app you came from is reached over a connection without encryption. Others on the network can
          read and change what you send there${granted && ', and could use the access that you just allowed'}.
        </p>
      </header>
      <dl class="facts">
        <div>
          <dt>Returns you to</dt>
          <dd><bdi>${destination(location)}</bdi></dd>
        </div>
      </dl>
      <p class="assurance">
        <strong>${granted ? 'Nothing was sent yet.' : 'No access was given.'}</strong>
        To stop here, close this
        page${granted ? ': the app then gets no access.' : ': the app then is told nothing.'}
      </p>
      <div class="actions">
        <a href="${location}" rel="noreferrer">Continue without protection</a>
      </div>
    `,
  })
}
