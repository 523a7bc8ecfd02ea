import { html, type Html } from '../lib/pages/html'
import { appPage, fact, noticeOf, shortened, type AppLook, type Notices } from './app-page'
import type { Tokens } from './connection'
import type { Step } from './visitor'

export interface PhotoEntry {
  readonly id: string
  readonly title: string
  readonly place: string
  readonly workspace: string
}

interface HomeView {
  readonly tokens: Tokens | undefined
  readonly photos: readonly PhotoEntry[]
  /** What to tell: an error code, or a word of {@link noticesOf}. */
  readonly notice: string | undefined
  readonly steps: readonly Step[]
}

/** How an app with photos looks. */
export interface ClientLook extends AppLook {
  /** What visitors see who have not connected the app. */
  readonly invitation: Html
  /** What else the app tells those who have. */
  readonly aside: Html
  /** What happens if somebody who has disconnected the app connects it again. */
  readonly again: string
}

/** The only page of an app: an invitation, or the photos. */
export function homePage(look: ClientLook, { tokens, photos, notice, steps }: HomeView): string {
  return appPage(
    look,
    html`
      ${notice !== undefined && noticeOf(noticesOf(look), notice)}
      ${tokens === undefined ? look.invitation : html`${gallery(photos)} ${connection(tokens)} ${story(steps)} ${look.aside}`}
    `,
  )
}

const noticesOf = ({ name, again }: ClientLook): Notices => ({
  news: {
    access_denied:
      'You chose not to connect Lumen. Nothing was shared, and you can change your mind any time.',
    disconnected: `Disconnected. ${name} gave its tokens back and Lumen ended them: it can see your photos no more. ${again}`,
    connected_already: 'You are connected already. Nothing had to be done.',
    unchanged: `You chose nothing new. ${name} goes on with the workspace that it has.`,
  },
  problems: {
    state_mismatch: 'That answer does not belong to a connection that you began here. Please connect again.',
    issuer_mismatch: 'That answer did not come from Lumen. Please connect again.',
    invalid_grant: 'Lumen has ended this connection. Connect again to see your photos.',
    not_revoked: `${name} forgot your tokens, but Lumen was out of reach and did not end them. They end by themselves.`,
    photos_refused:
      'Lumen does not give out your photos at the moment. Wait a little, then load this page again.',
  },
})

/** The photos of a visitor. */
export function gallery(photos: readonly PhotoEntry[]): Html {
  return html`<section class="gallery">
    <header>
      <h1>Your photos</h1>
      <p>${photos.length === 0 ? 'No photos' : countOf(photos)}, guarded by Lumen</p>
    </header>
    <ul>
      ${photos.map(
        ({ id, title, place }) =>
          html`<li>
            <figure>
              <img src="/photos/${id}" alt="${title}, ${place}" width="800" height="600" />
              <figcaption>${title} <small>${place}</small></figcaption>
            </figure>
          </li>`,
      )}
    </ul>
  </section>`
}

function countOf(photos: readonly PhotoEntry[]): string {
  const workspaces = [...new Set(photos.map(({ workspace }) => workspace))]
  return `${photos.length} photos of ${new Intl.ListFormat('en').format(workspaces)}`
}

function connection({ accessToken, refreshToken, scope, expiresAt }: Tokens): Html {
  return html`<section class="panel">
    <h2>Connected to Lumen</h2>
    <dl>
      ${fact('Scope', scope)} ${fact('Access token', shortened(accessToken))}
      ${fact('Expires', `in ${Math.max(0, Math.round((expiresAt - Date.now()) / 60_000))} minutes`)}
      ${refreshToken !== undefined && fact('Refresh token', shortened(refreshToken))}
    </dl>
    <div class="actions">
      <form method="post" action="/refresh"><button>Refresh tokens</button></form>
      <form method="post" action="/connect"><button>Choose another workspace</button></form>
      <form method="post" action="/disconnect"><button class="quiet">Disconnect</button></form>
    </div>
  </section>`
}

function story(steps: readonly Step[]): Html {
  return html`<section class="panel">
    <h2>What happened</h2>
    <ol>
      ${steps.map(
        ({ what, how }) =>
          html`<li>
            ${what}
            <code>${how}</code>
          </li>`,
      )}
    </ol>
  </section>`
}
