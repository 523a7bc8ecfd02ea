import { html } from '../lib/pages/html'
import { client, type ClientSettings } from './client'
import type { Registration } from './connection'

/** Photo Book: an app that Lumen has registered. */
export function photoBook(settings: ClientSettings, registration: Registration): void {
  client(settings, look, { registration: async () => registration, introduce: async () => [] })
}

const look = {
  name: 'Photo Book',
  key: 'photo-book',
  invitation: html`<section class="invitation">
    <div class="prints" aria-hidden="true"><i></i><i></i><i></i></div>
    <h1>Your best photos, <br />bound into a book.</h1>
    <p>
      Photo Book asks Lumen to see the photos of one workspace. You sign in there, you choose and decide
      there, and your password stays there.
    </p>
    <form method="post" action="/connect"><button class="primary">Connect Lumen</button></form>
  </section>`,
  aside: html`<section class="panel">
    <h2>What Lumen remembers</h2>
    <p>
      Lumen remembers that you allowed this workspace. Disconnect and connect again: it does not ask. Once you
      have allowed both workspaces, it asks which one you mean. Remove Photo Book from your connected
      applications at Lumen, and Lumen forgets both.
    </p>
  </section>`,
  again: 'Lumen remembers what you allowed: connect again, and it asks no more than it must.',
}
