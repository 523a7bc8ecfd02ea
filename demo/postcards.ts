import { html } from '../lib/pages/html'
import { client, type ClientSettings } from './client'
import { NotConnected, type Registration } from './connection'
import type { Introduction } from './visitor'

/** Postcards: an app that Lumen has never heard of, until the app introduces itself. */
export function postcards(settings: ClientSettings, redirectUri: string): void {
  client(settings, look, new SelfIntroduction(settings.authorizationServer, redirectUri))
}

/** Registers the app at Lumen (RFC 7591). The same words get the same `client_id`, so this may be repeated. */
class SelfIntroduction implements Introduction {
  private known: Registration | undefined

  constructor(
    private readonly authorizationServer: string,
    private readonly redirectUri: string,
  ) {}

  async registration(): Promise<Registration> {
    return this.known ?? this.register()
  }

  async introduce() {
    // Each time: Lumen forgets such a client after a while.
    const { client_id } = await this.register()
    return [
      { what: 'Introduced itself, and Lumen gave it an identifier', how: `POST /register ${client_id}` },
    ]
  }

  private async register(): Promise<Registration> {
    const { authorizationServer, redirectUri } = this
    const response = await fetch(`${authorizationServer}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: look.name,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
      }),
    })
    const answer: { client_id: string; error: string } = JSON.parse(await response.text())
    if (!response.ok) throw new NotConnected(answer.error)
    this.known = { client_id: answer.client_id, redirect_uri: redirectUri, authorizationServer }
    return this.known
  }
}

const look = {
  name: 'Postcards',
  key: 'postcards',
  invitation: html`<section class="invitation">
    <div class="card" aria-hidden="true"></div>
    <h1>Your photos, <br />with love from everywhere.</h1>
    <p>
      Lumen has never heard of Postcards. When you press the button, Postcards introduces itself, and Lumen
      asks you what it may see. Look for the mark “Not verified”.
    </p>
    <form method="post" action="/connect"><button class="primary">Connect Lumen</button></form>
  </section>`,
  aside: html`<section class="panel">
    <h2>Why Lumen marked Postcards</h2>
    <p>
      Postcards told Lumen its name itself, and another app could tell the same name. So Lumen marks it as not
      verified, shows no logo of it, and asks you each time.
    </p>
    <p><a href="https://www.rfc-editor.org/rfc/rfc7591#section-5">RFC 7591, section 5</a></p>
  </section>`,
  again: 'If you connect again, Lumen asks you again: it remembers nothing for an app that is not verified.',
}
