import { NotConnected, type Tokens } from './connection'

/** A device that waits for its owner: what the device shows, and what it keeps. */
export interface DeviceLogin {
  readonly deviceCode: string
  readonly userCode: string
  readonly verificationUri: string
  /** The same with the code in it, for a link. */
  readonly completeUri: string
  /** Seconds between two polls. */
  readonly interval: number
}

const grantType = 'urn:ietf:params:oauth:grant-type:device_code'

/** Asks Lumen for a code (RFC 8628 3.1). @throws NotConnected */
export async function beginDeviceLogin(issuer: string, client_id: string): Promise<DeviceLogin> {
  const body = new URLSearchParams({ client_id, scope: 'photos:read' })
  const response = await fetch(`${issuer}/device_authorization`, { method: 'POST', body })
  const answer: CodeAnswer = JSON.parse(await response.text())
  if (!response.ok) throw new NotConnected(answer.error)
  return {
    deviceCode: answer.device_code,
    userCode: answer.user_code,
    verificationUri: answer.verification_uri,
    completeUri: answer.verification_uri_complete,
    interval: answer.interval,
  }
}

interface CodeAnswer {
  readonly error: string
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri: string
  readonly verification_uri_complete: string
  readonly interval: number
}

/**
 * Asks whether the owner has decided (RFC 8628 3.4 and 3.5): resolves to the tokens, or to the login as it goes on.
 *
 * @throws NotConnected if it does not go on.
 */
export async function pollDeviceLogin(
  issuer: string,
  client_id: string,
  login: DeviceLogin,
): Promise<Tokens | DeviceLogin> {
  const body = new URLSearchParams({ grant_type: grantType, device_code: login.deviceCode, client_id })
  const response = await fetch(`${issuer}/token`, { method: 'POST', body })
  const answer: TokenAnswer = JSON.parse(await response.text())
  if (response.ok)
    return {
      accessToken: answer.access_token,
      refreshToken: answer.refresh_token,
      scope: answer.scope,
      expiresAt: Date.now() + answer.expires_in * 1000,
    }
  if (answer.error === 'authorization_pending') return login
  if (answer.error === 'slow_down') return { ...login, interval: login.interval + 5 }
  throw new NotConnected(answer.error)
}

interface TokenAnswer {
  readonly error: string
  readonly access_token: string
  readonly refresh_token?: string
  readonly scope: string
  readonly expires_in: number
}

export const hasTokens = (polled: Tokens | DeviceLogin): polled is Tokens => 'accessToken' in polled
