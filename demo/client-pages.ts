import { html, type Html } from '../lib/http/pages/html'
import type { Tokens } from './connection'
import type { Step } from './visitor'

export interface PhotoEntry {
  readonly id: string
  readonly title: string
  readonly place: string
}

interface HomeView {
  readonly tokens: Tokens | undefined
  readonly photos: readonly PhotoEntry[]
  /** What to tell: an error code, or a word of {@link news}. */
  readonly notice: string | undefined
  readonly steps: readonly Step[]
}

/** The only page of Photo Book: an invitation, or the photos. */
export function homePage({ tokens, photos, notice, steps }: HomeView): string {
  return page(html`
    ${notice !== undefined && noticeOf(notice)}
    ${tokens === undefined ? invitation : [gallery(photos), connection(tokens), story(steps)]}
  `)
}

/** While sessions cannot be reached. */
export function awayPage(): string {
  return page(
    html`<p class="notice" role="alert">
      Photo Book cannot look up your visit at the moment. Wait a little, then load this page again.
    </p>`,
  )
}

// What visitors did themselves.
const news = new Map([
  [
    'access_denied',
    'You chose not to connect Lumen. Nothing was shared, and you can change your mind any time.',
  ],
  [
    'disconnected',
    'Disconnected. Photo Book gave its tokens back and Lumen ended them: it can see your photos no more.',
  ],
  ['connected_already', 'You are connected already. Nothing had to be done.'],
])

const problems = new Map([
  [
    'state_mismatch',
    'That answer does not belong to a connection that you began here. Please connect again.',
  ],
  ['issuer_mismatch', 'That answer did not come from Lumen. Please connect again.'],
  ['invalid_grant', 'Lumen has ended this connection. Connect again to see your photos.'],
  [
    'not_revoked',
    'Photo Book forgot your tokens, but Lumen was out of reach and did not end them. They end by themselves.',
  ],
])

function noticeOf(notice: string): Html {
  const told = news.get(notice)
  if (told !== undefined) return html`<p class="notice" role="status">${told}</p>`
  const message = problems.get(notice) ?? `Lumen could not do that just now (${notice}). Please try again.`
  return html`<p class="notice" role="alert">${message}</p>`
}

const invitation = html`<section class="invitation">
  <div class="prints" aria-hidden="true"><i></i><i></i><i></i></div>
  <h1>Your best photos, <br />bound into a book.</h1>
  <p>
    Photo Book asks Lumen to see your photos. You sign in there, you decide there, and your password stays
    there.
  </p>
  <form method="post" action="/connect"><button class="primary">Connect Lumen</button></form>
</section>`

function gallery(photos: readonly PhotoEntry[]): Html {
  return html`<section class="gallery">
    <header>
      <h1>Your photos</h1>
      <p>${String(photos.length)} photos, guarded by Lumen</p>
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
      <form method="post" action="/disconnect"><button class="quiet">Disconnect</button></form>
    </div>
  </section>`
}

function fact(name: string, value: string): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`
}

// All credentials of one authorization begin alike: the end is what a refresh changes visibly.
function shortened(token: string): string {
  return `${token.slice(0, 7)}…${token.slice(-5)}`
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

function page(content: Html): string {
  return `<!doctype html>\n${String(
    html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Photo Book</title>
        <link rel="icon" href="/icon.svg" />
        <link rel="stylesheet" href="/base.css" />
        <link rel="stylesheet" href="/photo-book.css" />
      </head>
      <body>
        <header class="top">
          <a href="/"><img src="/icon.svg" alt="" width="28" height="28" />Photo Book</a>
        </header>
        <main>${content}</main>
      </body>
    </html>`,
  )}\n`
}
