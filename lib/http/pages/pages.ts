import { type Client, isRegisteredByHost } from '../../protocol/client'
import { withoutAnyPort } from '../../protocol/redirect-uri'
import { clientNameOf, destination, webUrl } from './consent-page'
import { html, pageDocument } from './html'

/** The view of the page about a response that the client already has. It contains only data of the registration. */
export function answeredViewOf(client: Client): AnsweredView {
  return { clientName: clientNameOf(client), home: homeOf(client) }
}

// The registration does not say where an app listens on loopback: the port is missing. An unregistered client may
// name any site in a redirection URI.
function homeOf(client: Client): string | undefined {
  const { client_uri, redirect_uris } = client
  if (client_uri !== undefined || !isRegisteredByHost(client)) return client_uri
  const fixed = redirect_uris.find(
    (uri) => webUrl(uri) !== undefined && withoutAnyPort(client, uri) === undefined,
  )
  return fixed === undefined ? undefined : `${new URL(fixed).origin}/`
}

/** The client that already has the response, and its home page. */
interface AnsweredView {
  readonly clientName: string
  /** A registered URL of the client, without any part of the response. Undefined for an app without a web page. */
  readonly home: string | undefined
}

/**
 * Renders the page for a resource owner who has allowed access before, if the server must not send the response
 * again.
 */
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

/** The redirection URI with the whole response, and whether the response grants access. */
interface ContinueView {
  readonly location: string
  readonly approved: boolean
}

/**
 * Renders the redirect to the client as a link, for user agents that lose the fragment of a redirect
 * (RFC 6749 4.2.2). The link contains the response. It therefore opens in the same tab, and sends no referrer to its
 * target.
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

/**
 * What an error page shows: the refusal of a request that cannot go on, and its reference for the support of the
 * host. The option `pages.error` gets this view.
 */
export interface ErrorView {
  /** The title of the page, in English. */
  readonly title: string
  /** The `error_description` of the refusal. */
  readonly message: string
  /** The error code, such as `invalid_request`. */
  readonly code: string
  /** The request id, which events and logs of the refusal contain. */
  readonly requestId: string
}

/** Renders an error page as a whole document. The page says that nothing was shared. Escapes every value. */
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

/** What the page before a redirect over plain HTTP shows. */
interface InsecureRedirectView {
  /** The redirection URI with the response in it. */
  readonly location: string
  /** Whether the response gives the client access. */
  readonly granted: boolean
}

/**
 * Renders the warning of RFC 6749 3.1.2.1 as a whole document. The browser goes on only if the resource owner follows
 * the link.
 */
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
        page${granted ? ': the app then gets no access.' : ': the app then learns nothing.'}
      </p>
      <div class="actions">
        <a href="${location}" rel="noreferrer">Continue without protection</a>
      </div>
    `,
  })
}

/**
 * Renders the redirect of an error to an unregistered client, as a link on a page (RFC 9700 4.11.2). The browser goes
 * there only if the resource owner follows the link.
 *
 * @param location the redirection URI with the error in it.
 * @param cause a refusal of the request, or trouble of the server, after which the same request may succeed.
 */
export function strangerPage(location: string, cause: 'refusal' | 'trouble' = 'refusal'): string {
  const isRefused = cause === 'refusal'
  const title = isRefused ? 'This request cannot go on' : 'This is not possible right now'
  return pageDocument({
    title,
    content: html`
      <header class="intro">
        <div class="mark caution" aria-hidden="true">!</div>
        <h1>${title}</h1>
        <p>
          ${isRefused ? 'It came from an app that nobody here has checked.' : 'Something here does not work at the moment.'}
          No access was given.
        </p>
      </header>
      <dl class="facts">
        <div>
          <dt>Returns you to</dt>
          <dd><bdi>${destination(location)}</bdi></dd>
        </div>
      </dl>
      <p class="assurance">
        ${!isRefused && html`<strong>Wait a moment, then reload this page to try again.</strong>`} Go back
        only if you have just come from there. Otherwise, close this page: somebody could want to lead you
        there.
      </p>
      <div class="actions">
        <a href="${location}" rel="noreferrer" referrerpolicy="no-referrer">Go back to the app</a>
      </div>
    `,
  })
}
