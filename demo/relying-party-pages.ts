import { html, type Html } from '../lib/pages/html'
import { appPage, fact, noticeOf, type AppLook, type Notices } from './app-page'
import type { LoggedIn } from './relying-party-login'

export const supperClub: AppLook = { name: 'Supper Club', key: 'supper-club' }

/** The only page of Supper Club: an invitation, or the member who is signed in. */
export function homePage(person: LoggedIn | undefined, notice: string | undefined): string {
  return appPage(
    supperClub,
    html`
      ${notice !== undefined && noticeOf(notices, notice)}
      ${person === undefined ? invitation : [welcome(person), identity(person), idToken(person)]}
    `,
  )
}

const notices: Notices = {
  news: {
    access_denied: 'You chose not to sign in with Lumen. Supper Club learned nothing about you.',
    signed_in_already: 'You are signed in already. Nothing had to be done.',
    refreshed: 'Refreshed: there is a new ID token, and it still tells when you signed in.',
    asked: 'Asked: Lumen told again your name and e-mail address.',
    signed_out: 'You are signed out of Supper Club, and Lumen sent you back.',
  },
  problems: {
    answer_refused:
      'That answer does not belong to a sign-in that you began here. Nobody was signed in: please try again.',
    invalid_grant: 'Lumen has ended this sign-in. Please sign in again.',
  },
}

const invitation = html`<section class="invitation">
  <div class="plate" aria-hidden="true"></div>
  <h1>A long table, <br />and a seat for you.</h1>
  <p>
    Members need no password here. Lumen tells Supper Club who you are, once you allow it: your name and your
    e-mail address, and nothing of your photos.
  </p>
  <form method="post" action="/login"><button class="primary">Sign in with Lumen</button></form>
</section>`

function welcome({ userInfo }: LoggedIn): Html {
  return html`<section class="welcome">
    <h1>Good evening, ${userInfo.name ?? 'member'}.</h1>
    <p>Your seat is kept under this name. The menu comes to ${userInfo.email ?? 'the table'}.</p>
  </section>`
}

function identity({ claims, userInfo }: LoggedIn): Html {
  const { auth_time, amr } = claims
  return html`<section class="panel">
    <h2>Who is signed in</h2>
    <dl>
      ${fact('Name', userInfo.name)} ${fact('E-mail', userInfo.email)}
      ${fact('Verified', userInfo.email_verified === true ? 'by Lumen' : 'no')}
      ${fact('Signed in', auth_time === undefined ? undefined : timeOf(auth_time))} ${fact('How', howOf(amr))}
    </dl>
    <div class="actions">
      <form method="post" action="/userinfo"><button>Ask UserInfo</button></form>
      <form method="post" action="/logout"><button class="quiet">Sign out</button></form>
    </div>
  </section>`
}

// RFC 8176
const methods = new Map([
  ['pwd', 'with a password'],
  ['otp', 'with a one-time code'],
])

function howOf(amr: unknown): string | undefined {
  if (!Array.isArray(amr)) return undefined
  return amr.map((method) => methods.get(method) ?? String(method)).join(', ')
}

function idToken({ claims }: LoggedIn): Html {
  return html`<section class="panel">
    <h2>What the ID token says</h2>
    <dl>
      ${fact('Issuer', claims.iss)} ${fact('Subject', claims.sub)}
      ${fact('For', [claims.aud].flat().join(', '))} ${fact('Issued', timeOf(claims.iat))}
      ${fact('Expires', timeOf(claims.exp))}
    </dl>
    <div class="actions">
      <form method="post" action="/refresh"><button>Refresh</button></form>
    </div>
  </section>`
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/T(.*)\.000Z/, ' $1 UTC')
}
