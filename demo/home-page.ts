import { html, pageDocument } from '../lib/pages/html'
import type { ResourceOwner } from '../lib/index'

/** An app of the demo, for the front page. */
interface AppOfDemo {
  readonly name: string
  /** What a browser can open. */
  readonly url?: string
  /** What it does, in a sentence. */
  readonly does: string
}

/** Apps of the demo that have something in common. */
export interface AppGroup {
  readonly title: string
  readonly apps: readonly AppOfDemo[]
}

/** The front page of the demo: who is signed in, and what each app does. */
export function homePage(owner: ResourceOwner | undefined, groups: readonly AppGroup[]): string {
  return pageDocument({
    title: 'Lumen',
    content: html`
      <header class="intro">
        <div class="mark" aria-hidden="true">L</div>
        <h1>Lumen <span class="subtitle">where your photos live</span></h1>
        <p>This is a demo: Lumen keeps your photos, and apps ask it for access to them.</p>
        ${owner !== undefined && html`<p>Signed in as <bdi>${owner.name ?? owner.subject}</bdi></p>`}
      </header>
      ${
        owner === undefined
          ? html`<form action="/login">
              <div class="actions"><button type="submit" class="primary">Sign in</button></div>
            </form>`
          : html`<form method="post" action="/sign-out">
              <div class="actions"><button type="submit">Sign out</button></div>
            </form>`
      }
      ${groups.map(
        ({ title, apps }) =>
          html`<section class="permissions">
            <h2>${title}</h2>
            ${apps.map(
              (app) =>
                html`<p class="application"><strong class="line">${nameOf(app)}</strong> ${app.does}</p>`,
            )}
          </section>`,
      )}
    `,
  })
}

const nameOf = ({ name, url }: AppOfDemo) => (url === undefined ? name : html`<a href="${url}">${name}</a>`)
