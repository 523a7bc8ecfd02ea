import { html, pageDocument } from '../lib/pages/html'
import { demoAccount } from './accounts'

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
      <footer class="fineprint">
        <p>
          Name and password of this demo: <code>${demoAccount.username}</code>
          <code>${demoAccount.password}</code>
        </p>
        <a href="/">All apps of the demo</a>
      </footer>
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
