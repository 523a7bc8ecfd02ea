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
  /** Confidential web server with "sign in with Lumen": authorization code and refresh token; `openid profile email`. */
  readonly supperClub: {
    readonly client_id: string
    readonly client_secret: string
    readonly redirect_uri: string
    readonly post_logout_redirect_uri: string
  }
  /** Confidential web server: authorization code; `photos:read`. */
  readonly attackLab: {
    readonly client_id: string
    readonly client_secret: string
    readonly redirect_uri: string
  }
  /** Public device: device code and refresh token; `photos:read`. */
  readonly television: { readonly client_id: string }
  /** Confidential service: client credentials; `photos:read`. */
  readonly nightlyReport: { readonly client_id: string; readonly client_secret: string }
}

/** Registers the clients of the demo: what the server keeps of them, and what they know themselves. */
export function registerClients({
  photoBook: clientUrl,
  supperClub: relyingPartyUrl,
  attackLab: attackLabUrl,
}: Readonly<Record<'photoBook' | 'supperClub' | 'attackLab', string>>): {
  registrations: ClientRegistration[]
  clients: DemoClients
} {
  const photoBook = generateClientSecret()
  const supperClub = generateClientSecret()
  const attackLab = generateClientSecret()
  const nightlyReport = generateClientSecret()
  const redirectUri = `${clientUrl}/callback`
  const loopbackUri = `http://127.0.0.1:${new URL(clientUrl).port}/callback`
  const logInUri = `${relyingPartyUrl}/callback`
  const logOutUri = `${relyingPartyUrl}/logged-out`
  const labUri = `${attackLabUrl}/callback`
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
      client_id: 'supper-club',
      client_type: 'confidential',
      client_secret_hashes: [supperClub.client_secret_hash],
      redirect_uris: [logInUri],
      post_logout_redirect_uris: [logOutUri],
      grant_types: ['authorization_code', 'refresh_token'],
      scope: 'openid profile email',
      client_name: 'Supper Club',
      client_uri: relyingPartyUrl,
      description: 'Keeps a seat for you, under the name that you have here.',
    },
    {
      client_id: 'attack-lab',
      client_type: 'confidential',
      client_secret_hashes: [attackLab.client_secret_hash],
      redirect_uris: [labUri],
      grant_types: ['authorization_code'],
      scope: 'photos:read',
      client_name: 'Attack Lab',
      client_uri: attackLabUrl,
      description: 'Steals the code that you allow it, and shows that a stolen code is worth nothing.',
    },
    ...(['Television', 'Remote shell'] as const).map((client_name): ClientRegistration => ({
      client_id: client_name.toLowerCase().replace(' ', '-'),
      client_type: 'public',
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
      scope: 'photos:read',
      client_name,
    })),
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
    supperClub: {
      client_id: 'supper-club',
      client_secret: supperClub.client_secret,
      redirect_uri: logInUri,
      post_logout_redirect_uri: logOutUri,
    },
    attackLab: { client_id: 'attack-lab', client_secret: attackLab.client_secret, redirect_uri: labUri },
    television: { client_id: 'television' },
    nightlyReport: { client_id: 'nightly-report', client_secret: nightlyReport.client_secret },
  }
  return { registrations, clients }
}
