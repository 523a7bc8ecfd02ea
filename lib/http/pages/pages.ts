import type { Client } from '../../protocol/client'
import { loopbackUri } from '../../protocol/redirect-uri'
import { clientNameOf, destination, webUrl } from './consent-page'
import { html, pageDocument } from './html'

/** What the page about an answer that the client has already takes from its registration, and from nothing else. */
export function answeredViewOf(client: Client): AnsweredView {
  return { clientName: clientNameOf(client), home: homeOf(client) }
}

// Where an app listens on loopback is not registered: only its redirection URI without the port is.
function homeOf({ client_uri, redirect_uris, loopback_redirect_uris }: Client): string | undefined {
  if (client_uri !== undefined) return client_uri
  const fixed = redirect_uris.find(
    (uri) => webUrl(uri) !== undefined && !(loopback_redirect_uris && loopbackUri(uri) !== undefined),
  )
  return fixed === undefined ? undefined : `${new URL(fixed).origin}/`
}

/** Which client has the answer already, and where it is at home on the web. */
export interface AnsweredView {
  readonly clientName: string
  /** Registered for the client, and nothing of the answer in it; undefined for an app that has no place on the web. */
  readonly home: string | undefined
}

/** Renders what the resource owner is told who allowed access before, when the answer is not to be given again. */
export function answeredPage({ clientName, home }: AnsweredView): string {
  const title = 'You allowed access already'
  return pageDocument({
    title,
    content: html`
      <header class="intro">
        <div class="mark" aria-hidden="true">✓</div>
        <h1>${title}</h1>
        <p>This is done. Go back to <bdi class="name">${clientName}</bdi> to go on.</p>
      </header>
      <p class="assurance">
        If the app asks for access again, your answer was lost on its way: allow it once more.
      </p>
      ${
        home !== undefined &&
        html`<div class="actions">
          <a class="primary" href="${home}" rel="noreferrer">Go to <bdi>${destination(home)}</bdi></a>
        </div>`
      }
    `,
  })
}

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
