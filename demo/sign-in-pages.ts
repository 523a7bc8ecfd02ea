import { html, pageDocument } from '../lib/http/pages/html'
import type { ResourceOwner } from '../lib/index'

/** The mark of the pages, for the tab. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="8" fill="#3a56d4"/><path d="M12 8v15h9" fill="none" stroke="#fff" stroke-width="3.500"/>
</svg>
`

interface SignInView {
  readonly username: string
  readonly returnTo: string
  readonly message?: string
}

/** The sign-in form, in the clothes of the consent page that follows it. */
export function signInPage({ username, returnTo, message }: SignInView): string {
  return pageDocument({
    title: 'Sign in to Lumen',
    content: html`
      <header class="intro">
        <div class="mark" aria-hidden="true">L</div>
        <h1>Sign in <span class="subtitle">to Lumen, where your photos live</span></h1>
      </header>
      ${message !== undefined && html`<p class="assurance problem" role="alert">${message}</p>`}
      <form method="post" action="/login">
        <label>
          Name
          <input
            name="username"
            value="${username}"
            autocomplete="username"
            autocapitalize="none"
            spellcheck="false"
            required
            ${username === '' && html`autofocus`}
          />
        </label>
        <label>
          Password
          <input
            type="password"
            name="password"
            autocomplete="current-password"
            maxlength="72"
            required
            ${username !== '' && html`autofocus`}
            ${message !== undefined && html`aria-invalid="true"`}
          />
        </label>
        <input type="hidden" name="return_to" value="${returnTo}" />
        <div class="actions"><button type="submit" class="primary">Sign in</button></div>
      </form>
    `,
  })
}

/** While sessions cannot be reached. */
export function awayPage(): string {
  return pageDocument({
    title: 'Lumen is not available',
    content: html`
      <header class="intro">
        <div class="mark" aria-hidden="true">L</div>
        <h1>Not available <span class="subtitle">just now</span></h1>
      </header>
      <p class="assurance" role="alert">
        Lumen cannot look up who is signed in at the moment. Nothing is wrong on your side: wait a little,
        then load this page again.
      </p>
    `,
  })
}

/** An app of the demo, for the front page. */
export interface AppOfDemo {
  readonly name: string
  /** What a browser can open. */
  readonly url?: string
  /** What it does, in a sentence. */
  readonly does: string
}

/** The front page of the demo: who is signed in, and what each app does. */
export function homePage(owner: ResourceOwner | undefined, apps: readonly AppOfDemo[]): string {
  return pageDocument({
    title: 'Lumen',
    content: html`
      <header class="intro">
        <div class="mark" aria-hidden="true">L</div>
        <h1>Lumen <span class="subtitle">where your photos live</span></h1>
      </header>
      ${
        owner === undefined
          ? html`<form action="/login">
              <div class="actions"><button type="submit" class="primary">Sign in</button></div>
            </form>`
          : html`<dl class="facts">
                <div>
                  <dt>Signed in as</dt>
                  <dd><bdi>${owner.name ?? owner.subject}</bdi></dd>
                </div>
              </dl>
              <form method="post" action="/sign-out">
                <div class="actions"><button type="submit">Sign out</button></div>
              </form>`
      }
      ${apps.map(
        ({ name, url, does }) =>
          html`<p class="assurance">
            <strong>${url === undefined ? name : html`<a href="${url}">${name}</a>`}</strong> ${does}
          </p>`,
      )}
    `,
  })
}
