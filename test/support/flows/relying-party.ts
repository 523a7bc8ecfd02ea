import type { Response } from 'supertest'
import { authorizationRequest, type Fields } from './flow'
import { relyingParty, withIdentity } from './identity-stage'
import { loginStage } from './login-stage'
import type { Stage } from './stores-of-run'

export const issuer = 'http://localhost'

/** What the relying party asks for. */
export const asked = { scope: 'openid profile email', nonce: 'n-0S6_WzA2Mj' }

/** A good authorization request of the relying party. */
export const loginRequest = { ...authorizationRequest(relyingParty), ...asked }

type OnStage = Pick<Stage, 'flow'>

/** What came for a code. */
export function identityOf({ body }: Response) {
  return {
    idToken: String(body.id_token ?? ''),
    accessToken: String(body.access_token),
    refreshToken: String(body.refresh_token),
    body,
  }
}

/** The whole way of the relying party to an ID token. */
export async function logIn({ flow }: OnStage, bend: Fields = {}, owner = 'alice') {
  const code = await flow.approve(relyingParty, { ...asked, ...bend }, owner)
  return identityOf(await flow.redeem(relyingParty, code))
}

/** A request at the UserInfo endpoint with an access token. */
export function userInfo({ flow }: OnStage, token: string, method: 'GET' | 'POST' = 'GET') {
  const headers = { Authorization: `Bearer ${token}` }
  return method === 'GET'
    ? flow.open('/userinfo', undefined, headers)
    : flow.submit('/userinfo', {}, undefined, headers)
}

/** A stage with OpenID Connect, on which headers say who logged in, when and how. */
export function identityLoginStage(...[bend = {}, identity = {}]: Parameters<typeof withIdentity>) {
  const { resourceOwner: _known, ...rest } = withIdentity({}, identity)
  return loginStage({ ...rest, ...bend })
}

/** An authorization request of the relying party, for the parameter `claims`. */
export const claimsRequest = (claims: object) => ({ claims: JSON.stringify(claims) })
