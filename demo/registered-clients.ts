import { generateClientSecret, type ClientRegistration } from '../lib/index'

/** What each client application knows of its own registration. */
export interface DemoClients {
  /** Confidential web server: authorization code and refresh token; `photos:read photos:write`. */
  readonly photoBook: {
    readonly client_id: string
    readonly client_secret: string
    readonly redirect_uri: string
  }
  /** Public native app, so PKCE is required: authorization code and refresh token; `photos:read`. */
  readonly commandLine: { readonly client_id: string; readonly redirect_uri: string }
  /** Confidential service: client credentials; `photos:read`. */
  readonly nightlyReport: { readonly client_id: string; readonly client_secret: string }
}

/** Registers the clients of the demo: what the server keeps of them, and what they know themselves. */
export function registerClients(clientUrl: string): {
  registrations: ClientRegistration[]
  clients: DemoClients
} {
  const photoBook = generateClientSecret()
  const nightlyReport = generateClientSecret()
  const redirectUri = `${clientUrl}/callback`
  const loopbackUri = `http://127.0.0.1:${new URL(clientUrl).port}/callback`
  const registrations: ClientRegistration[] = [
    {
      client_id: 'photo-book',
      client_type: 'confidential',
      client_secret_hashes: [photoBook.client_secret_hash],
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      scope: 'photos:read photos:write',
      client_name: 'Photo Book',
      client_uri: clientUrl,
      description: 'Turns your best photos into a book.',
    },
    {
      client_id: 'command-line',
      client_type: 'public',
      redirect_uris: [loopbackUri],
      grant_types: ['authorization_code', 'refresh_token'],
      scope: 'photos:read',
      client_name: 'Lumen on the command line',
    },
    {
      client_id: 'nightly-report',
      client_type: 'confidential',
      client_secret_hashes: [nightlyReport.client_secret_hash],
      grant_types: ['client_credentials'],
      scope: 'photos:read',
    },
  ]
  const clients = {
    photoBook: { client_id: 'photo-book', client_secret: photoBook.client_secret, redirect_uri: redirectUri },
    commandLine: { client_id: 'command-line', redirect_uri: loopbackUri },
    nightlyReport: { client_id: 'nightly-report', client_secret: nightlyReport.client_secret },
  }
  return { registrations, clients }
}
