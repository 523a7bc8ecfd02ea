import type { Express } from 'express'
import { listen } from '../../../demo/listen'
import { isRecord } from '../../../lib/primitives/values'
import { generateClientSecret, type ClientRegistration } from '../../../lib/index'

/** What a client knows of itself and of the server. */
export interface Registered {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The base URL of the application. */
  readonly url: string
  readonly redirectUri: string
  readonly postLogoutRedirectUri: string
}

/**
 * A web application that logs its users in with one client. It answers a login and a refresh with JSON: what it knows of
 * the user, from the ID token and from UserInfo. What the client refuses it answers with 401, and the reason.
 */
export interface RelyingParty {
  /** The path that starts a login. */
  readonly login: string
  /** The path of the redirection URI. */
  readonly callback: string
  mount(app: Express, registered: Registered): void
}

export async function startRelyingParty(issuer: string, clientId: string, party: RelyingParty) {
  const listener = await listen(0)
  const { app, url } = listener
  const { registration, registered } = register(issuer, clientId, url, party.callback)
  party.mount(app, registered)
  return { url, registration, close: () => listener.close() }
}

/** A relying party that listens on loopback. */
export type StartedRelyingParty = Awaited<ReturnType<typeof startRelyingParty>>

/** The registration of an application, and what the application knows of itself. */
export function register(
  issuer: string,
  clientId: string,
  url: string,
  callback: string,
): { readonly registration: ClientRegistration; readonly registered: Registered } {
  const { client_secret: clientSecret, client_secret_hash } = generateClientSecret()
  const [redirectUri, postLogoutRedirectUri] = [`${url}${callback}`, `${url}/bye`]
  return {
    registration: {
      client_id: clientId,
      client_type: 'confidential',
      client_secret_hashes: [client_secret_hash],
      redirect_uris: [redirectUri],
      post_logout_redirect_uris: [postLogoutRedirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      scope: 'openid profile email',
    },
    registered: { issuer, clientId, clientSecret, url, redirectUri, postLogoutRedirectUri },
  }
}

/** Why a client refuses: the messages of an error and of its causes. */
export function reasonOf(reason: unknown): string {
  if (!(reason instanceof Error)) return isRecord(reason) ? String(reason['message']) : String(reason)
  const cause = isRecord(reason.cause) && 'err' in reason.cause ? reason.cause['err'] : reason.cause
  return cause instanceof Error ? `${reason.message} (${reasonOf(cause)})` : reason.message
}
