import { begin, commit } from '../../../lib/authorization/commit'
import {
  approveWithCode,
  createPendingAuthorization,
  findDecidable,
  repeatable,
  withForm,
} from '../../../lib/authorization/decision'
import { issuerDigest } from '../../../lib/authorization/issuer'
import { redeemCode } from '../../../lib/authorization/redeem-code'
import { rotateRefreshToken } from '../../../lib/authorization/refresh'
import { type IssueContext, unrestricted } from '../../../lib/authorization/transition'
import { secureRandom } from '../../../lib/protocol/credential'
import { OAuthError } from '../../../lib/protocol/oauth-error'
import type { AuthorizationStore } from '../../../lib/authorization/store'
import { inSeconds } from '../../../lib/testing/example-records'
import { mac } from '../../../lib/extensions/token-types/mac'

/**
 * Leads one authorization from consent to a refreshed token and calls `look` at each state that is stored.
 * Returns what it handed out on the way: consent token, code, two access tokens with a MAC key each, two refresh tokens.
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
    restrict: unrestricted,
  }
  const [clientId, subject, redirectUri] = ['s6BhdRkqt3', 'u-8842', 'https://client.example.com/cb']
  const request = { responseType: 'code', redirectUri, redirectUriSent: true, requestState: undefined }
  const proposal = { clientId, subject, scope: ['a', 'b'], tokenType: 'mac', extensionData: {}, request }
  const { pending, consentToken } = createPendingAuthorization(proposal, context)
  await begin(store, pending, secureRandom)
  await look(pending.id)

  const code = await commit(
    store,
    pending.id,
    (current) => {
      const open = findDecidable(current, { consentToken, subject, approved: true }, context.now)
      if (open instanceof OAuthError) return { action: 'none', refusal: open }
      if (open.state !== 'pending') throw new Error('The request was decided before.')
      const { salt, context: repeated } = repeatable(consentToken, context)
      const approval = approveWithCode(open, repeated)
      return {
        action: 'save',
        authorization: withForm(approval.authorization, open, salt),
        outcome: approval.code,
      }
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
  return [consentToken, code, ...tokens].filter((text) => text !== undefined)
}
