import type { Client } from '../protocol/client'
import { loopbackUri } from '../protocol/registered-redirect-uri'
import type { AnsweredView } from './pages/answered-page'
import { clientNameOf } from './pages/client-name'
import { webUrl } from './pages/web-link'

/** What the page about an answer that the client has already takes from its registration, and from nothing else. */
export function answeredViewOf(client: Client): AnsweredView {
  return { clientName: clientNameOf(client), home: homeOf(client) }
}

// Where an app listens on loopback is not registered: only its redirection URI without the port is.
function homeOf({ client_uri, redirect_uris, loopback_redirect_uris }: Client): string | undefined {
  if (client_uri !== undefined) return client_uri
  const fixed = redirect_uris.find(
    (uri) => webUrl(uri) !== undefined && !(loopback_redirect_uris && loopbackUri(uri) !== undefined),
  )
  return fixed === undefined ? undefined : `${new URL(fixed).origin}/`
}
