import { type Active, type Authorization, expiryOf } from '../../lib/authorization/authorization'
import {
  approveForPolls,
  approveWithCode,
  deny,
  findDecidable,
  claim,
  awaitLogin,
  openForLogin,
  openForOwner,
  openRequest,
  release,
} from '../../lib/authorization/requested'
import { addAccessToken, type Issued, issueDirectly } from '../../lib/authorization/issue'
import { lifetimesFor } from '../../lib/authorization/lifetimes'
import { accessIn } from '../../lib/authorization/lookup'
import { pollAuthorization, redeemCode, rotateRefreshToken } from '../../lib/authorization/redeem'
import { revokeByToken } from '../../lib/authorization/revoke'
import {
  type GrantedToken,
  type IssueContext,
  type TransitionResult,
  unrestricted,
} from '../../lib/authorization/transition'
import { createRefreshToken, digest } from '../../lib/protocol/credential'
import { OAuthError } from '../../lib/protocol/oauth-error'
import { countedRandom, granted, request, tokenTypes, usual } from './world'
import { noon } from '../support/noon'

const random = countedRandom()
/** So many seconds after noon. */
const at = (
  seconds: number,
  lifetimes: Partial<IssueContext['lifetimes']> = {},
  bend: Partial<IssueContext> = {},
): IssueContext => ({
  now: noon + seconds,
  issuerDigest: 'digest of issuer',
  random,
  lifetimes: { ...usual, ...lifetimes },
  tokenTypes,
  countIssue: () => {},
  restrict: unrestricted,
  ...bend,
})

/** What a transition wants done, and the reason of its refusal or `ok`. */
const verdictOf = (result: TransitionResult<unknown>): string =>
  `${result.action} ${'refusal' in result ? result.refusal.reason : 'ok'}`
const outcomeOf = <T>(result: TransitionResult<T>): T => {
  if ('refusal' in result) throw result.refusal
  return result.outcome
}
type InState<State extends Authorization['state']> = Extract<Authorization, { state: State }>

/** The record that a transition saves, which must be in this state. */
function recordOf<State extends Authorization['state']>(
  result: TransitionResult<unknown>,
  state: State,
): InState<State> {
  if (result.action !== 'save') throw new Error(`It saves nothing: ${verdictOf(result)}.`)
  const { authorization } = result
  const is = (one: Authorization): one is InState<State> => one.state === state
  if (!is(authorization)) throw new Error(`The record is ${authorization.state}.`)
  return authorization
}

const proposal = { ...granted, subject: 'alice', request }
const opened = (bend: { readonly tokenType?: string } = {}) => {
  const { requested } = openForOwner({ ...proposal, ...bend }, at(0))
  return { ...requested, subject: 'alice', request }
}
const approval = (bend: { readonly tokenType?: string } = {}) => approveWithCode(opened(bend), at(0))
const redemption = { clientId: 'printer', redirectUri: request.redirectUri, refreshToken: true }

/** Alice has approved, and the printer has redeemed its code. */
function redeemed(bend: { readonly tokenType?: string } = {}): {
  readonly active: Active
  readonly issued: Issued
} {
  const { authorization, code } = approval(bend)
  const step = redeemCode(authorization, { ...redemption, code }, at(0))
  return { active: recordOf(step, 'active'), issued: outcomeOf(step) }
}
const refresh = (
  current: Authorization | undefined,
  refreshToken: string | undefined,
  context: IssueContext,
  superseded?: Authorization,
) =>
  rotateRefreshToken(
    current,
    { refreshToken: refreshToken ?? '', clientId: 'printer', scope: undefined },
    context,
    superseded,
  )
/** The printer has refreshed once more. */
function rotated({ active, issued }: ReturnType<typeof redeemed>, context: IssueContext) {
  const step = refresh(active, issued.refreshToken, context)
  return { active: recordOf(step, 'active'), issued: outcomeOf(step) }
}

const refusing =
  (code: 'invalid_target' | 'invalid_scope' | 'invalid_grant'): IssueContext['restrict'] =>
  () =>
    new OAuthError(code, 'wrong_verifier', 'No.')

describe('A code', () => {
  it.each<['invalid_target' | 'invalid_scope' | 'invalid_grant', number | undefined]>([
    ['invalid_grant', 1],
    ['invalid_target', undefined],
    ['invalid_scope', undefined],
  ])('counts a wrong proof as a failure, and no request that may be mended: %s', (code, failures) => {
    const { authorization, code: text } = approval()
    const step = redeemCode(
      authorization,
      { ...redemption, code: text },
      at(0, {}, { restrict: refusing(code) }),
    )
    expect(step.action === 'save' ? recordOf(step, 'approved').code.failures : undefined).toBe(failures)
  })

  it('shows the extensions what they kept, and gets the token that they narrow', () => {
    const shown: GrantedToken[] = []
    const restrict = (grant: GrantedToken) => {
      shown.push(grant)
      return {
        ...unrestricted(grant),
        scope: ['photos.read'],
        lifetime: 5,
        authorizationData: { dpop: 'key' },
      }
    }
    const { authorization, code } = approval()
    const step = redeemCode(
      authorization,
      { ...redemption, code, refreshToken: false },
      at(0, {}, { restrict }),
    )
    const { subject, scope, extensionData } = proposal
    expect(shown).toMatchObject([{ subject, scope, extensionData }])
    expect(outcomeOf(step)).toMatchObject({
      scope: ['photos.read'],
      expiresAt: noon + 5,
      refreshToken: undefined,
    })
    const active = recordOf(step, 'active')
    expect([active.scope, active.extensionData]).toEqual([granted.scope, { pkce: 'challenge', dpop: 'key' }])
  })

  it('of another text under the same id is unknown, before and after the redemption', () => {
    const { authorization } = approval()
    const forged = `ac_${'A'.repeat(65)}`
    for (const record of [authorization, redeemed().active, deny(opened())])
      expect(verdictOf(redeemCode(record, { ...redemption, code: forged }, at(0)))).toBe('none code_unknown')
  })

  it('ends with its grant, which a server may have shortened', () => {
    const { authorization, code } = approval()
    expect(verdictOf(redeemCode(authorization, { ...redemption, code }, at(5, { grant: 5 })))).toBe(
      'delete grant_expired',
    )
  })
})

describe('Where no record is there', () => {
  it('each transition that may follow a removal confirms the absence, because that removal may not be durable', () => {
    expect([
      verdictOf(redeemCode(undefined, { ...redemption, code: 'ac_' }, at(0))),
      verdictOf(refresh(undefined, 'rt_', at(0))),
      verdictOf(revokeByToken(undefined, { token: 'at_', clientId: 'printer' })),
    ]).toEqual(['touch code_unknown', 'touch refresh_token_unknown', 'touch ok'])
  })
})

describe('A refresh token', () => {
  const one = redeemed()
  const two = rotated(one, at(100))
  const three = rotated(two, at(101))
  const { tagKey = '' } = one.active.refreshToken ?? {}
  const made = (generation: number) => createRefreshToken(one.active.id, generation, tagKey, random)

  it.each<[string, Authorization, string | undefined, IssueContext, Authorization | undefined, string]>([
    ['garbage', two.active, 'rt_garbage', at(100), undefined, 'none refresh_token_unknown'],
    [
      'the current generation, made up',
      two.active,
      made(1),
      at(100),
      undefined,
      'none refresh_token_unknown',
    ],
    ['a later generation, made up', two.active, made(2), at(100), undefined, 'none refresh_token_unknown'],
    ['the last generation, made up', two.active, made(0), at(100), undefined, 'delete refresh_token_reused'],
    [
      'one for an unredeemed code',
      approval().authorization,
      made(0),
      at(0),
      undefined,
      'none refresh_token_unknown',
    ],
    ['the last one, by a clock behind', two.active, one.issued.refreshToken, at(71), undefined, 'touch ok'],
    [
      'the last one, by a clock far behind',
      two.active,
      one.issued.refreshToken,
      at(70),
      undefined,
      'delete refresh_token_reused',
    ],
    [
      'an older one',
      three.active,
      one.issued.refreshToken,
      at(101),
      undefined,
      'delete refresh_token_reused',
    ],
    [
      'an older one, which was the current one when its request came',
      three.active,
      one.issued.refreshToken,
      at(101),
      one.active,
      'none refresh_token_superseded',
    ],
    [
      'an older one, which was the last one when its request came',
      three.active,
      one.issued.refreshToken,
      at(101),
      two.active,
      'delete refresh_token_reused',
    ],
    [
      'the last one without a grace, which was the current one when its request came',
      two.active,
      one.issued.refreshToken,
      at(101, { refreshTokenGrace: 0 }),
      one.active,
      'delete refresh_token_reused',
    ],
    [
      'one whose grant was shortened',
      two.active,
      two.issued.refreshToken,
      at(101, { grant: 50 }),
      undefined,
      'delete grant_expired',
    ],
    [
      'the last one, whose grant was shortened',
      two.active,
      one.issued.refreshToken,
      at(101, { grant: 50 }),
      undefined,
      'delete grant_expired',
    ],
    [
      'a made-up one whose grant was shortened',
      two.active,
      made(1),
      at(101, { grant: 50 }),
      undefined,
      'none refresh_token_unknown',
    ],
  ])('%s', (_which, record, text, context, superseded, expected) => {
    expect(verdictOf(refresh(record, text, context, superseded))).toBe(expected)
  })

  it('is refused like every other one: the client learns no reason', () => {
    const refusals = [
      refresh(two.active, 'rt_garbage', at(100)),
      refresh(undefined, 'rt_', at(100)),
      refresh(three.active, one.issued.refreshToken, at(101)),
    ].map((step) => ('refusal' in step ? [step.refusal.code, step.refusal.description] : []))
    expect(new Set(refusals.map(String)).size).toBe(1)
  })

  it('revokes nothing that was never issued', () => {
    const revoke = (token: string) => verdictOf(revokeByToken(two.active, { token, clientId: 'printer' }))
    expect([made(1), made(2), 'rt_garbage'].map(revoke)).toEqual(['none ok', 'none ok', 'none ok'])
    expect([made(0), one.issued.refreshToken ?? '', one.issued.accessToken].map(revoke)).toEqual([
      'delete ok',
      'delete ok',
      'delete ok',
    ])
  })

  it('derives the same response with that token alone: its members are sealed, and what was altered in the store is noticed [refresh-11]', () => {
    const stampedOne = redeemed({ tokenType: 'stamped' })
    const stampedTwo = rotated(stampedOne, at(100))
    const again = refresh(stampedTwo.active, stampedOne.issued.refreshToken, at(101))
    expect(outcomeOf(again)).toEqual(stampedTwo.issued)
    const { lastResponse } = stampedTwo.active
    if (lastResponse?.sealedProperties === undefined) throw new Error('Nothing is sealed.')
    const altered = `${lastResponse.sealedProperties.slice(0, -4)}AAAA`
    const record: Active = {
      ...stampedTwo.active,
      lastResponse: { ...lastResponse, sealedProperties: altered },
    }
    expect(() => refresh(record, stampedOne.issued.refreshToken, at(101))).toThrow('altered in the store')
  })

  it('gives no repetition to a request that proves another key', () => {
    const confirmationOf: IssueContext['confirmationOf'] = (token) => token.expiresAt
    const short = rotated(one, at(100, { accessToken: 5 }))
    const step = refresh(short.active, one.issued.refreshToken, at(106, {}, { confirmationOf }))
    expect(verdictOf(step)).toBe('none repetition_key_wrong')
  })

  it('brings one token again to a repetition after the end of the first, as long as that one lives', () => {
    const short = (seconds: number) => at(seconds, { accessToken: 5 })
    const first = rotated(one, short(100))
    const late = refresh(first.active, one.issued.refreshToken, short(106))
    expect(outcomeOf(late).accessToken).not.toBe(first.issued.accessToken)
    expect(outcomeOf(late).refreshToken).toBe(first.issued.refreshToken)
    const again = refresh(recordOf(late, 'active'), one.issued.refreshToken, short(107))
    expect(verdictOf(again)).toBe('touch ok')
    expect(outcomeOf(again)).toEqual(outcomeOf(late))
    const later = refresh(recordOf(late, 'active'), one.issued.refreshToken, short(111))
    expect(outcomeOf(later).accessToken).not.toBe(outcomeOf(late).accessToken)
  })

  it('brings another request within the grace the members of its token type, and binds nothing else', () => {
    const stamped = redeemed({ tokenType: 'stamped' })
    const next = rotated(stamped, at(100))
    const restrict = (grant: GrantedToken) => ({
      ...unrestricted(grant),
      scope: ['photos.read'],
      authorizationData: { dpop: 'key' },
    })
    const narrow = at(101, {}, { restrict })
    const beside = refresh(next.active, stamped.issued.refreshToken, narrow)
    const again = refresh(recordOf(beside, 'active'), stamped.issued.refreshToken, narrow)
    for (const step of [beside, again]) {
      expect(recordOf(step, 'active').extensionData).toEqual(next.active.extensionData)
      expect(outcomeOf(step).properties).toHaveProperty('stamp')
      expect(outcomeOf(step).refreshToken).toBe(next.issued.refreshToken)
    }
  })

  it('leads to 32 live access tokens at most: the newest ones', () => {
    let now = redeemed()
    const texts: string[] = [now.issued.accessToken]
    for (let count = 0; count < 40; count++) {
      now = rotated(now, at(count + 1))
      texts.push(now.issued.accessToken)
    }
    const good = texts.filter(
      (text) => accessIn(now.active, digest(text), undefined, noon + 41) !== undefined,
    )
    expect(good).toEqual(texts.slice(-32))
  })
})

describe('A refresh token that the server keeps', () => {
  const keeping = (seconds: number, lifetimes: Partial<IssueContext['lifetimes']> = {}) =>
    at(seconds, lifetimes, { keepsRefreshToken: () => true })
  const one = redeemed()
  const winner = refresh(one.active, one.issued.refreshToken, keeping(1))
  const won = recordOf(winner, 'active')
  const second = recordOf(refresh(won, one.issued.refreshToken, keeping(1)), 'active')
  const { extensionData } = one.active

  it.each<[string, Authorization, IssueContext, Authorization | undefined, string]>([
    ['gets the token of the winner if it lost a race', won, keeping(1), one.active, 'touch ok'],
    ['gets that of the last winner if it lost twice', second, keeping(1), won, 'touch ok'],
    ['gets a token of its own if it came later', won, keeping(1), undefined, 'save ok'],
    ['gets a token of its own if the record moved otherwise', one.active, keeping(1), one.active, 'save ok'],
    ['gets a token of its own if that of the winner has expired', won, keeping(302), one.active, 'save ok'],
    [
      'gets a token of its own if extensions keep something else now',
      { ...won, extensionData: {} },
      at(
        1,
        {},
        {
          keepsRefreshToken: () => true,
          restrict: (grant) => ({ ...unrestricted(grant), authorizationData: { dpop: 'key' } }),
        },
      ),
      { ...one.active, extensionData },
      'save ok',
    ],
  ])('%s', (_what, record, context, superseded, expected) => {
    const step = refresh(record, one.issued.refreshToken, context, superseded)
    expect(verdictOf(step)).toBe(expected)
    const { accessToken, refreshToken } = outcomeOf(step)
    expect(refreshToken).toBe(one.issued.refreshToken)
    expect(accessIn(recordAfter(step, record), digest(accessToken), undefined, context.now)).toBeDefined()
  })

  it('gets two tokens for two refreshes in one second, and no expired one again', () => {
    const [first, next] = [outcomeOf(winner), outcomeOf(refresh(won, one.issued.refreshToken, keeping(1)))]
    expect(first.accessToken).not.toBe(next.accessToken)
    const later = outcomeOf(refresh(won, one.issued.refreshToken, keeping(302)))
    expect(later.accessToken).not.toBe(first.accessToken)
  })

  it('may be rotated by a server that ends to keep, and kept by one that begins to', () => {
    const rotatedAgain = rotated({ active: won, issued: outcomeOf(winner) }, at(2))
    expect(verdictOf(refresh(rotatedAgain.active, one.issued.refreshToken, keeping(40)))).toBe(
      'delete refresh_token_reused',
    )
    expect(verdictOf(refresh(rotatedAgain.active, one.issued.refreshToken, keeping(3)))).toBe('touch ok')
    const { refreshToken } = outcomeOf(
      refresh(rotatedAgain.active, rotatedAgain.issued.refreshToken, keeping(40)),
    )
    expect(refreshToken).toBe(rotatedAgain.issued.refreshToken)
  })
})

const recordAfter = (step: TransitionResult<unknown>, before: Authorization): Authorization =>
  step.action === 'save' ? step.authorization : before

describe('A request that a client pushed', () => {
  const { subject: _subject, ...ownerless } = proposal
  const presented = (handle: string) => ({ handle, clientId: 'printer' })
  const claimed = (
    record: Authorization,
    handle: string,
    context: IssueContext,
    bend: Partial<typeof proposal & { readonly login: { readonly authTime: number } }> = {},
  ) => claim(record, presented(handle), handle, { ...proposal, ...bend }, context)

  it('lives as long as its client asked until a browser brings it, and then as every request', () => {
    const { requested, handle } = openRequest(ownerless, at(0), { lifetime: 60, parameters: 'a=b' })
    expect(verdictOf(awaitLogin(requested, presented(handle), at(60), false))).toBe(
      'none authorization_request_expired',
    )
    const seen = recordOf(awaitLogin(requested, presented(handle), at(59), false), 'requested')
    expect(seen).toMatchObject({ expiresAt: noon + 659, parameters: 'a=b' })
    expect(recordOf(awaitLogin(seen, presented(handle), at(100), false), 'requested')).toEqual(seen)
    expect(verdictOf(awaitLogin(seen, presented(`${handle}x`), at(100), false))).toBe(
      'none authorization_request_unknown',
    )
  })

  it('keeps the login that was demanded and its parameters until the decision, and the form for its owner as he logs in anew', () => {
    const { requested, handle } = openRequest(ownerless, at(0), {
      parameters: 'a=b',
      pluginData: { pace: 5 },
    })
    const demanded = recordOf(awaitLogin(requested, presented(handle), at(5), true), 'requested')
    const first = claimed(demanded, handle, at(6))
    const pending = recordOf(first, 'requested')
    expect(pending).toMatchObject({
      demandedLogin: { at: noon + 5 },
      parameters: 'a=b',
      pluginData: { pace: 5 },
    })
    const again = recordOf(awaitLogin(pending, presented(handle), at(7), true), 'requested')
    expect(again).toMatchObject({ demandedLogin: { at: noon + 7 } })
    const anew = claimed(again, handle, at(8), { login: { authTime: noon + 7 } })
    expect(outcomeOf(anew)).toMatchObject({ consentToken: outcomeOf(first).consentToken, isAgain: true })
    expect(recordOf(anew, 'requested')).toMatchObject({
      login: { authTime: noon + 7 },
      expiresAt: pending.expiresAt,
    })
    expect(verdictOf(claimed(again, handle, at(8)))).toBe('none ok')
    expect([Object.keys(deny(pending)), Object.keys(approveForPolls(pending, at(8)))].flat()).not.toEqual(
      expect.arrayContaining(['parameters', 'pluginData']),
    )
  })

  it('gets another form where the page would show something else, so that no old form approves it', () => {
    const { requested, handle } = openRequest(ownerless, at(0))
    const first = claimed(requested, handle, at(0))
    const narrower = claimed(recordOf(first, 'requested'), handle, at(1), { scope: ['photos.read'] })
    expect(outcomeOf(narrower).consentToken).not.toBe(outcomeOf(first).consentToken)
    expect(verdictOf(claimed(recordOf(narrower, 'requested'), handle, at(1), { subject: 'mallory' }))).toBe(
      'none authorization_request_of_another_owner',
    )
  })

  it('is open for another account once its owner releases it, by his form alone', () => {
    const { requested, handle } = openRequest(ownerless, at(0))
    const first = claimed(requested, handle, at(0))
    const { consentToken } = outcomeOf(first)
    const record = recordOf(first, 'requested')
    expect(verdictOf(release(record, { consentToken: handle, subject: 'alice' }))).toBe(
      'none authorization_request_unknown',
    )
    expect(verdictOf(release(record, { consentToken, subject: 'mallory' }))).toBe(
      'none authorization_request_unknown',
    )
    const released = recordOf(release(record, { consentToken, subject: 'alice' }), 'requested')
    expect(outcomeOf(claimed(released, handle, at(1), { subject: 'bob' })).consentToken).not.toBe(
      consentToken,
    )
    expect(verdictOf(release(deny(record), { consentToken, subject: 'alice' }))).toBe(
      'none authorization_request_not_open',
    )
  })

  it('is not that of a demanded login, whose reference is good for its parameters', () => {
    const { requested, reference } = openForLogin(ownerless, 'digest of parameters', at(3))
    expect(requested.demandedLogin).toEqual({ at: noon + 3, parameters: 'digest of parameters' })
    expect(JSON.stringify(requested)).not.toContain(reference.slice(25))
  })

  it('gives its handle no tokens: its client gets a code', () => {
    const { requested, handle } = openRequest(ownerless, at(0))
    const poll = { handle, clientId: 'printer', refreshToken: false }
    expect(verdictOf(pollAuthorization(requested, poll, at(1)))).toBe('none handle_unknown')
  })
})

describe('A request that is polled', () => {
  const { subject: _subject, request: _request, ...ownerless } = proposal
  const polledProposal = { ...ownerless, request: undefined }
  const byId = { handle: undefined, clientId: 'printer' }
  const claimed = (record: Authorization, context: IssueContext) =>
    claim(record, byId, 'secret of the page', { ...polledProposal, subject: 'alice' }, context)

  function approvedAt(seconds: number, tokenType = 'bearer') {
    const { requested, handle } = openRequest({ ...polledProposal, tokenType }, at(0))
    const record = recordOf(claimed(requested, at(seconds)), 'requested')
    const ofType = { ...record, tokenType, login: { authTime: noon } }
    return { record: approveForPolls(ofType, at(seconds)), handle }
  }
  const decided = (tokenType?: string) => approvedAt(0, tokenType)
  const poll = (record: Authorization, handle: string, context: IssueContext, refreshToken = false) =>
    pollAuthorization(record, { handle, clientId: 'printer', refreshToken }, context)

  it('is claimed by its id alone: its handle is for the polls', () => {
    const { requested, handle } = openRequest(polledProposal, at(0))
    const byHandle = { handle, clientId: 'printer' }
    const owned = { ...polledProposal, subject: 'alice' }
    expect(verdictOf(claim(requested, byHandle, handle, owned, at(0)))).toBe(
      'none authorization_request_not_open',
    )
    const { requested: pushed } = openRequest({ ...polledProposal, request }, at(0))
    expect(verdictOf(claim(pushed, byId, 'secret', owned, at(0)))).toBe('none authorization_request_not_open')
  })

  it('keeps the login of the decision, and the end of its code', () => {
    const { record, handle } = decided()
    const step = poll(record, handle, at(1))
    expect(recordOf(step, 'active')).toMatchObject({ login: { authTime: noon }, subject: 'alice' })
    const { requested } = openRequest(polledProposal, at(0))
    expect(recordOf(claimed(requested, at(9)), 'requested').expiresAt).toBe(requested.expiresAt)
  })

  it('of a client without refresh tokens brings the same token again within the grace, another for other terms, and none later', () => {
    const { record, handle } = decided()
    const first = poll(record, handle, at(1))
    const active = recordOf(first, 'active')
    expect(outcomeOf(poll(active, handle, at(30)))).toEqual(outcomeOf(first))
    const narrower = at(2, {}, { restrict: (grant) => ({ ...unrestricted(grant), scope: ['photos.read'] }) })
    for (const context of [narrower, at(12, {}, {}), at(2, { refreshTokenGrace: 30 })]) {
      const bent = context === narrower ? active : { ...active, accessTokens: [] }
      expect(outcomeOf(poll(bent, handle, context)).accessToken).not.toBe(outcomeOf(first).accessToken)
    }
    expect(verdictOf(poll(active, handle, at(31)))).toBe('none handle_replayed')
    expect(verdictOf(poll(active, handle, at(1, { refreshTokenGrace: 0 })))).toBe('none handle_replayed')
    expect(verdictOf(poll(active, `${handle.slice(0, -4)}AAAA`, at(1)))).toBe('none handle_unknown')
  })

  it.each([true, false])(
    'brings the members of its token type again, with a refresh token or without one: %p',
    (refreshToken) => {
      const { record, handle } = decided('stamped')
      const first = poll(record, handle, at(1), refreshToken)
      const again = poll(recordOf(first, 'active'), handle, at(30), refreshToken)
      expect(verdictOf(again)).toBe('touch ok')
      expect(outcomeOf(again)).toEqual(outcomeOf(first))
      expect(outcomeOf(first).properties).toHaveProperty('stamp')
      expect([again.event?.name, again.event?.reason]).toEqual(['issued', 'repeated'])
    },
  )

  it('saves nothing where an extension refuses, so that the client may ask again', () => {
    const { record, handle } = decided()
    const refused = at(1, {}, { restrict: refusing('invalid_grant') })
    expect(verdictOf(poll(record, handle, refused, true))).toBe('none wrong_verifier')
    expect(verdictOf(poll(record, handle, at(1), true))).toBe('save ok')
  })

  it('may be polled for as long as a code after an approval in its last second', () => {
    expect(approvedAt(599).record.expiresAt).toBe(noon + 599 + usual.authorizationCode)
  })

  it('may be decided as long as its code is good, though its client hears of the end for longer', () => {
    const { requested, handle } = openRequest(polledProposal, at(0))
    const step = claimed(requested, at(0))
    const decision = { consentToken: outcomeOf(step).consentToken, subject: 'alice', approved: true }
    const record = recordOf(step, 'requested')
    expect(findDecidable(record, decision, noon + 600)).toMatchObject({
      reason: 'authorization_request_expired',
    })
    expect(expiryOf(record)).toBe(noon + 720)
    expect(verdictOf(poll(record, handle, at(601)))).toBe('none authorization_request_expired')
  })
})

describe('A grant without a code', () => {
  const direct = { ...granted, subject: undefined, refreshToken: false }
  const ofServer = {
    access_token_lifetime: undefined,
    refresh_token_lifetime: undefined,
    grant_lifetime: undefined,
  }

  it.each<[string, Parameters<typeof issueDirectly>[0], number | undefined, boolean]>([
    ['of a client for itself', direct, 300, false],
    ['of an owner, with a refresh token', { ...direct, subject: 'alice', refreshToken: true }, 300, true],
    [
      'that ends, without a refresh token',
      { ...direct, subject: 'alice', refreshToken: true, expiresAt: noon + 9 },
      9,
      false,
    ],
    ['that ends later than its token', { ...direct, expiresAt: noon + 9000 }, 300, false],
  ])('begins with tokens: %s', (_which, grant, seconds, hasRefreshToken) => {
    const { authorization, issued } = issueDirectly(grant, at(0))
    expect([issued.expiresAt - noon, issued.refreshToken !== undefined]).toEqual([seconds, hasRefreshToken])
    expect(accessIn(authorization, digest(issued.accessToken), undefined, noon)?.access).toMatchObject({
      clientId: 'printer',
      subject: grant.subject,
      scope: granted.scope,
    })
    expect(issueDirectly(grant, at(0)).authorization.id).not.toBe(authorization.id)
  })

  it.each([noon, noon - 1, noon + 0.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses the end %p',
    (expiresAt) => {
      expect(() => issueDirectly({ ...direct, expiresAt }, at(0))).toThrow(RangeError)
    },
  )

  it.each([
    [{ lifetime: 7 }, 7],
    [{ lifetime: 9000 }, 300],
    [{ grant: 50 }, 50],
  ])(
    'gets a token of the shortest lifetime: %j',
    ({ lifetime, grant }: { lifetime?: number; grant?: number }, seconds) => {
      const { active } = redeemed()
      const token = { ...unrestricted(active), lifetime }
      const { issued } = addAccessToken(active, token, at(0, grant === undefined ? {} : { grant }))
      expect(issued.expiresAt).toBe(noon + seconds)
    },
  )

  it.each([
    [{}, {}],
    [{ access_token_lifetime: 5 }, { accessToken: 5 }],
    [{ access_token_lifetime: 9000, refresh_token_lifetime: 9000 }, {}],
    [
      { refresh_token_lifetime: 5, grant_lifetime: 50 },
      { refreshToken: 5, grant: 50 },
    ],
  ])(
    'lives as the registration of its client says, and no longer than the server says: %j',
    (client, expected) => {
      expect(lifetimesFor({ ...ofServer, ...client }, usual)).toEqual({ ...usual, ...expected })
      expect(lifetimesFor({ ...ofServer, grant_lifetime: 50 }, { ...usual, grant: 40 }).grant).toBe(40)
    },
  )
})
