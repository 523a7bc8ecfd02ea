import type { Scope } from '../protocol/scope'
import type { AccessToken, Authorization } from './authorization'

/** What listeners hear of a transition once it is written. It holds digests, and nothing that a client could present. */
export interface TransitionEvent {
  readonly name: 'approved' | 'issued' | 'refreshed' | 'revoked'
  /** Why an authorization was revoked; `repeated` where an earlier answer was given again. */
  readonly reason: string | undefined
  readonly scope: Scope | undefined
  /** Of the credential that was issued; undefined when none was. */
  readonly digest: string | undefined
  /** Of the authorization request that was approved; undefined for everything else. */
  readonly responseType: string | undefined
}

/** The event of an approval: of a code, or of the access token that its answer holds. */
export function approvalEvent(
  authorization: Authorization,
  responseType: string,
  reason?: 'repeated',
): TransitionEvent | undefined {
  if (!('accessTokens' in authorization)) return undefined
  const token = authorization.accessTokens.at(-1)
  if (authorization.state === 'active' || token !== undefined)
    return { ...issueEvent('issued', token, reason), responseType }
  const { scope, code } = authorization
  return { name: 'approved', reason, scope, digest: code.digest, responseType }
}

/** The event of an access token that was issued. */
export function issueEvent(
  name: 'issued' | 'refreshed',
  token: AccessToken | undefined,
  reason?: 'repeated',
): TransitionEvent {
  return { name, reason, scope: token?.scope, digest: token?.digest, responseType: undefined }
}

/** The event of an authorization that ended. @param found undefined when it could not be read. */
export function revocationEvent(found: Authorization | undefined, reason: string): TransitionEvent {
  return { name: 'revoked', reason, scope: found?.scope, digest: undefined, responseType: undefined }
}
