import { html } from '../lib/pages/html'
import type { ResourceOwner } from '../lib/index'
import { framed } from './app-page'

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
  const card = ({ name, url, does }: AppOfDemo) =>
    html`<li>
      <h2>${url === undefined ? name : html`<a href="${url}">${name}</a>`}</h2>
      <p>${does}</p>
    </li>`
  return framed(
    { title: 'Lumen', icon: '/logo.svg', stylesheets: ['/assets/base.css', '/assets/home.css'] },
    html`<main>
      <header class="welcome">
        <div>
          <h1>Lumen, where your photos live</h1>
          <p>This is a demo: Lumen keeps your photos, and apps ask you for access to them.</p>
        </div>
        ${owner === undefined ? html`<a class="button primary" href="/login">Sign in</a>` : signedIn(owner)}
      </header>
      <ul class="apps">
        ${apps.map(card)}
      </ul>
    </main>`,
  )
}

const signedIn = ({ name, subject }: ResourceOwner) =>
  html`<form method="post" action="/sign-out">
    <p>Signed in as <bdi>${name ?? subject}</bdi></p>
    <button type="submit">Sign out</button>
  </form>`
