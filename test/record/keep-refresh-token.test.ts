import type { Active, Authorization } from '../../lib/authorization/authorization'
import { findAccessTokenIn } from '../../lib/authorization/lookup'
import { rotateRefreshToken } from '../../lib/authorization/refresh'
import type { IssueContext } from '../../lib/authorization/transition'
import { hasDigest } from '../../lib/protocol/credential'
import { activeAuthorization, asActive, refreshed, refreshWith } from '../support/authorization/authorization'
import { context, lifetimes, noon, tokenOf } from '../support/authorization/issue-context'
import { answerOf, refusal, written } from '../support/authorization/step'

/** So many seconds after noon, on a server that keeps refresh tokens. */
const keeping = (seconds: number, bend: Parameters<typeof context>[0] = {}) =>
  context({ now: noon + seconds, keepsRefreshToken: () => true, ...bend })

const { active, issued } = activeAuthorization()
const text = String(issued.refreshToken)

const refresh = (current: Authorization, at: IssueContext, superseded?: Authorization, scope?: string) =>
  rotateRefreshToken(current, refreshWith(text, { scope }), at, superseded)
const kept = (current: Authorization, at: IssueContext) => {
  const step = refresh(current, at)
  return { active: asActive(written(step)), issued: answerOf(step) }
}

describe('a refresh token that the server keeps', () => {
  it('gets new access tokens, and stays the one of the authorization', () => {
    const first = kept(active, keeping(100))
    const second = kept(first.active, keeping(200))
    const texts = [issued, first.issued, second.issued].map(({ accessToken }) => accessToken)
    expect(new Set(texts).size).toBe(3)
    for (const accessToken of texts)
      expect(findAccessTokenIn(second.active, accessToken, noon + 200)).toBeDefined()
    for (const { issued: answer } of [first, second]) expect(answer.refreshToken).toBe(text)
    expect(second.active.refreshToken).toMatchObject({ generation: 0, tagKey: active.refreshToken?.tagKey })
    expect(hasDigest(text, String(second.active.refreshToken?.digest))).toBe(true)
  })

  it('begins its lifetime anew, within the grant', () => {
    const { active: after, issued: answer } = kept(active, keeping(100))
    const end = noon + 100 + lifetimes.refreshToken
    expect([after.refreshToken?.expiresAt, answer.refreshTokenExpiresAt]).toEqual([end, end])
    const ending = kept(active, keeping(100, { lifetimes: { grant: 500 } }))
    expect(ending.active.refreshToken?.expiresAt).toBe(noon + 500)
  })

  it('ends with its lifetime and with the grant', () => {
    expect(refusal(refresh(active, keeping(lifetimes.refreshToken))).reason).toBe('refresh_token_expired')
    expect(refusal(refresh(active, keeping(500, { lifetimes: { grant: 500 } })))).toEqual({
      code: 'invalid_grant',
      reason: 'grant_expired',
      action: 'delete',
    })
  })

  it('gets two tokens for two refreshes in one second', () => {
    const first = kept(active, keeping(100))
    const second = kept(first.active, keeping(100))
    expect(second.issued.accessToken).not.toBe(first.issued.accessToken)
    expect(second.active.accessTokens).toHaveLength(3)
  })

  it('fills the record with 32 live access tokens at most', () => {
    let current = active
    for (let count = 0; count < 40; count++) current = kept(current, keeping(count)).active
    expect(current.accessTokens).toHaveLength(32)
  })

  it('never gets an expired token again, also if an older one lives longer', () => {
    const brief = keeping(100, { restrict: ({ scope }) => tokenOf(scope, { lifetime: 10 }) })
    const first = kept(active, brief)
    const later = keeping(110, { restrict: ({ scope }) => tokenOf(scope, { lifetime: 10 }) })
    expect(kept(first.active, later).issued.accessToken).not.toBe(first.issued.accessToken)
  })

  it('is not derived from the refresh token alone', () => {
    const sealed = (record: Active): Active => ({
      ...record,
      refreshToken: record.refreshToken && { ...record.refreshToken, tagKey: 'A'.repeat(22) },
    })
    const one = kept(active, keeping(100)).issued.accessToken
    expect(kept(sealed(active), keeping(100)).issued.accessToken).not.toBe(one)
    expect(kept(active, keeping(100)).issued.accessToken).toBe(one)
  })
})

describe('of parallel refreshes with a kept token', () => {
  const won = kept(active, keeping(100))

  it('the one that lost the race gets the token of the winner, without a write', () => {
    const step = refresh(won.active, keeping(101), active)
    expect(step.action).toBe('touch')
    expect(answerOf(step)).toMatchObject({
      accessToken: won.issued.accessToken,
      expiresAt: won.issued.expiresAt,
      refreshToken: text,
      refreshTokenExpiresAt: won.issued.refreshTokenExpiresAt,
    })
    expect(step.event).toMatchObject({ name: 'refreshed', reason: 'repeated' })
  })

  it('one that lost twice gets the token of the last winner', () => {
    const again = kept(won.active, keeping(100))
    const step = refresh(again.active, keeping(101), won.active)
    expect([step.action, answerOf(step).accessToken]).toEqual(['touch', again.issued.accessToken])
  })

  it('one that came later gets a token of its own', () => {
    const step = refresh(won.active, keeping(101))
    expect(step.action).toBe('save')
    expect(answerOf(step).accessToken).not.toBe(won.issued.accessToken)
  })

  it.each<[string, Authorization, IssueContext, Authorization, string | undefined]>([
    ['another scope', won.active, keeping(101), active, 'photos.read'],
    [
      'a record that another request changed',
      { ...won.active, usedUntil: 1 },
      keeping(101),
      won.active,
      undefined,
    ],
    ['a winner whose token has expired', won.active, keeping(100 + lifetimes.accessToken), active, undefined],
    [
      'other data of extensions',
      won.active,
      keeping(101, { restrict: ({ scope }) => tokenOf(scope, { extensionData: { a: 1 } }) }),
      active,
      undefined,
    ],
    [
      'other data of the authorization, such as another key',
      won.active,
      keeping(101, { restrict: ({ scope }) => tokenOf(scope, { authorizationData: { a: 1 } }) }),
      active,
      undefined,
    ],
    [
      'a token type with members of its own',
      won.active,
      keeping(101, { restrict: ({ scope }) => tokenOf(scope, { tokenType: 'stamped' }) }),
      active,
      undefined,
    ],
  ])('one with %s gets a token of its own', (_what, current, at, superseded, scope) => {
    const step = refresh(current, at, superseded, scope)
    expect(step.action).toBe('save')
    expect(answerOf(step).accessToken).not.toBe(won.issued.accessToken)
    expect(answerOf(step).refreshToken).toBe(text)
  })

  it('those of a token type with members of its own get a token each, which no request can derive', () => {
    const stamped = (seconds: number) =>
      keeping(seconds, { restrict: ({ scope }) => tokenOf(scope, { tokenType: 'stamped' }) })
    const first = kept(active, stamped(100))
    const step = refresh(first.active, stamped(100), active)
    expect(step.action).toBe('save')
    expect(answerOf(step).properties['stamp']).not.toBe(first.issued.properties['stamp'])
  })
})

describe('a server that begins or ends to keep refresh tokens', () => {
  const rotated = refreshed(active, text)
  const next = String(rotated.issued.refreshToken)
  const present = (current: Authorization, token: string, at: IssueContext) =>
    rotateRefreshToken(current, refreshWith(token), at)
  const afterKept = asActive(written(present(rotated.active, next, keeping(5))))

  it('gives the tokens of the last rotation again within the grace, also after a refresh that kept the token', () => {
    for (const current of [rotated.active, afterKept])
      expect(answerOf(present(current, text, keeping(6)))).toMatchObject({
        accessToken: rotated.issued.accessToken,
        refreshToken: next,
      })
  })

  it('takes a refresh token that was replaced before for stolen after the grace', () => {
    for (const current of [rotated.active, afterKept])
      expect(refusal(present(current, text, keeping(30)))).toEqual({
        code: 'invalid_grant',
        reason: 'refresh_token_reused',
        action: 'delete',
      })
  })

  it('rotates the kept token at its next refresh, and then takes it for stolen after the grace', () => {
    const rotating = (seconds: number) => context({ now: noon + seconds })
    const step = present(afterKept, next, rotating(50))
    const after = asActive(written(step))
    expect(after.refreshToken?.generation).toBe(2)
    expect(answerOf(present(after, next, rotating(79))).refreshToken).toBe(answerOf(step).refreshToken)
    expect(refusal(present(after, next, rotating(80))).reason).toBe('refresh_token_reused')
    expect(refusal(present(after, next, keeping(80))).reason).toBe('refresh_token_reused')
  })
})
