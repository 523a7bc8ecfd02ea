import { requireAnswerable, approveWithCode } from '../../../lib/authorization/answer'
import type { IssueContext } from '../../../lib/authorization/circumstances'
import { begin, commit } from '../../../lib/authorization/commit'
import { issuerDigest } from '../../../lib/authorization/of-issuer'
import { createPendingAuthorization } from '../../../lib/authorization/propose'
import { redeemCode } from '../../../lib/authorization/redeem-code'
import { repeatable, withForm } from '../../../lib/authorization/repetition'
import { rotateRefreshToken } from '../../../lib/authorization/rotate-refresh-token'
import { unchanged, save } from '../../../lib/authorization/step'
import { mac } from '../../../lib/token-types/mac/mac'
import { secureRandom } from '../../../lib/protocol/credential'
import { OAuthError } from '../../../lib/protocol/oauth-error'
import type { AuthorizationStore } from '../../../lib/stores/authorization-store'
import { inSeconds } from '../../../lib/testing/authorization-store/examples'

/**
 * Leads one authorization from consent to a refreshed token and calls `look` at each state that is stored.
 * Returns what it handed out on the way: handle, code, two access tokens with a MAC key each, two refresh tokens.
 */
export async function everyCredential(
  store: AuthorizationStore,
  look: (id: string) => Promise<void>,
): Promise<readonly string[]> {
  const context: IssueContext = {
    now: inSeconds(0),
    issuerDigest: issuerDigest('https://auth.example'),
    random: secureRandom,
    lifetimes: {
      authorizationRequest: 600,
      authorizationCode: 60,
      accessToken: 3600,
      refreshToken: 86_400,
      refreshTokenGrace: 30,
    },
    tokenTypes: new Map([['mac', mac({ hosts: ['api.example.com'] })]]),
    countIssue: () => {},
  }
  const [clientId, subject, redirectUri] = ['s6BhdRkqt3', 'u-8842', 'https://client.example.com/cb']
  const request = { responseType: 'code', redirectUri, redirectUriSent: true, requestState: undefined }
  const proposal = { clientId, subject, scope: ['a', 'b'], tokenType: 'mac', extensionData: {}, request }
  const { pending, handle } = createPendingAuthorization(proposal, context)
  await begin(store, pending, secureRandom)
  await look(pending.id)

  const code = await commit(
    store,
    pending.id,
    (current) => {
      const open = requireAnswerable(current, { handle, subject, approved: true }, context.now)
      if (open instanceof OAuthError) return unchanged(open)
      if (open.state !== 'pending') throw new Error('The request was decided before.')
      const { salt, context: repeated } = repeatable(handle, context)
      const approval = approveWithCode(open, repeated)
      return save(withForm(approval.authorization, open, salt), approval.code)
    },
    secureRandom,
  )
  await look(pending.id)

  const redemption = { code, clientId, redirectUri, refreshToken: true, rejectReason: () => undefined }
  const first = await commit(
    store,
    pending.id,
    (current) => redeemCode(current, redemption, context),
    secureRandom,
  )
  await look(pending.id)

  const refresh = { refreshToken: first.refreshToken ?? '', clientId, scope: undefined }
  const second = await commit(
    store,
    pending.id,
    (current) => rotateRefreshToken(current, refresh, context),
    secureRandom,
  )
  await look(pending.id)

  const tokens = [first, second].flatMap(({ accessToken, properties, refreshToken }) => [
    accessToken,
    String(properties['mac_key']),
    refreshToken,
  ])
  return [handle, code, ...tokens].filter((text) => text !== undefined)
}
