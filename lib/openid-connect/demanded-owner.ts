import type { Client } from '../protocol/client'
import type { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import type { ResourceOwner } from '../protocol/resource-owner'
import { needsAuthTime } from './client-members'
import type { IdentityRequest } from './identity-request'

export function requireSubject(subject: string): void {
  // OpenID Connect Core 2: `sub` has at most 255 characters of ASCII.
  if (!/^\p{ASCII}{1,255}$/u.test(subject))
    throw new TypeError(
      'The option resourceOwner must return a subject of at most 255 ASCII characters for a request of OpenID Connect.',
    )
}

export function requireAuthTime(client: Client, login: Pick<ResourceOwner, 'authTime'> | undefined): void {
  if (login?.authTime !== undefined || !needsAuthTime(client)) return
  const cause = new Error(
    'The registration of the client has require_auth_time, so the option resourceOwner must return authTime.',
  )
  throw refused('login_time_unknown', {}, { cause })
}

/**
 * Undefined for the owner of the request. Subjects are as the client knows them; `hinted` is that of
 * `id_token_hint`.
 */
export function mismatchOf(
  { subject, acr }: Pick<ResourceOwner, 'subject' | 'acr'>,
  hinted: string | undefined,
  request: IdentityRequest | undefined,
): OAuthError | undefined {
  if ([hinted, request?.subject].some((named) => named !== undefined && named !== subject))
    return refused('owner_not_hinted')
  const { acrValues = [] } = request ?? {}
  if (acrValues.length === 0 || (acr !== undefined && acrValues.includes(acr))) return undefined
  return refused('acr_not_met')
}
