import type { Authorization } from '../../lib/authorization/authorization'
import type { IssueContext } from '../../lib/authorization/transition'
import { rotateRefreshToken, type Refresh } from '../../lib/authorization/refresh'
import { createRefreshToken, hasDigest, secureRandom } from '../../lib/protocol/credential'
import {
  activeAuthorization,
  approvedAuthorization,
  asActive,
  refreshed,
  refreshWith,
} from '../support/authorization/authorization'
import { context, later, lifetimes, noon } from '../support/authorization/issue-context'
import { answerOf, refusal, written } from '../support/authorization/step'

const { active, issued } = activeAuthorization()
const first = issued.refreshToken!
const afterFirst = refreshed(active, first)
const afterSecond = refreshed(afterFirst.active, afterFirst.issued.refreshToken)

const refresh = (
  current: Authorization | undefined,
  token: string,
  bend: Partial<Refresh> = {},
  at: IssueContext = context(),
) => rotateRefreshToken(current, refreshWith(token, bend), at)

describe('rotateRefreshToken', () => {
  const step = refresh(active, first, {}, later(100))
  const answer = answerOf(step)
  const record = asActive(written(step))

  it('issues a new access token beside the ones that live, and the next refresh token', () => {
    expect(record.accessTokens).toHaveLength(2)
    expect(hasDigest(answer.accessToken, record.accessTokens[1]!.digest)).toBe(true)
    expect(record.refreshToken).toMatchObject({ generation: 1, tagKey: active.refreshToken!.tagKey })
    expect(hasDigest(answer.refreshToken!, record.refreshToken!.digest)).toBe(true)
    expect(answer.expiresAt).toBe(noon + 100 + lifetimes.accessToken)
  })

  it('gives the new refresh token a whole life', () => {
    expect(record.refreshToken!.expiresAt).toBe(noon + 100 + lifetimes.refreshToken)
  })

  it('leaves client, owner, scope, bindings and spent code as they were', () => {
    const { accessTokens, refreshToken, ...rest } = record
    expect(active).toMatchObject(rest)
    expect({ accessTokens, refreshToken }).not.toMatchObject(active)
  })

  it('goes on for many generations', () => {
    let current = { active, issued }
    for (let generation = 1; generation <= 50; generation++) {
      current = refreshed(current.active, current.issued.refreshToken)
      expect(current.active.refreshToken!.generation).toBe(generation)
    }
  })

  it.each([
    ['its code was never redeemed', approvedAuthorization().approved],
    ['it has no refresh token', activeAuthorization({ refreshToken: false }).active],
    ['it is the refresh token of another authorization', activeAuthorization().active],
  ])('knows no such token when %s', (_when, current) => {
    expect(refusal(refresh(current, first))).toEqual({
      code: 'invalid_grant',
      reason: 'refresh_token_unknown',
      action: 'none',
    })
  })

  it('knows no token where nothing is, and confirms that: a reuse may not have learnt that its removal is safe', () => {
    expect(refusal(refresh(undefined, first))).toEqual({
      code: 'invalid_grant',
      reason: 'refresh_token_unknown',
      action: 'touch',
    })
  })

  it.each([
    ['garbage', 'garbage'],
    ['an access token', issued.accessToken],
    ['a forged token with the right id', createRefreshToken(active.id, 0, 'another key', secureRandom)],
    ['a generation that is not there yet', afterSecond.issued.refreshToken!],
    [
      'another token of this generation',
      createRefreshToken(active.id, 0, active.refreshToken!.tagKey, secureRandom),
    ],
  ])('refuses %s and revokes nothing', (_what, token) => {
    expect(refusal(refresh(active, token))).toMatchObject({
      reason: 'refresh_token_unknown',
      action: 'none',
    })
  })

  it('refuses another client, which changes nothing', () => {
    expect(refusal(refresh(active, first, { clientId: 'mallory' }))).toEqual({
      code: 'invalid_grant',
      reason: 'refresh_token_of_another_client',
      action: 'none',
    })
  })

  it('refuses an expired token from its last second on', () => {
    const { refreshToken } = lifetimes
    expect(answerOf(refresh(active, first, {}, later(refreshToken - 1)))).toBeDefined()
    expect(refusal(refresh(active, first, {}, later(refreshToken)))).toEqual({
      code: 'invalid_grant',
      reason: 'refresh_token_expired',
      action: 'none',
    })
  })
})

describe('rotateRefreshToken, the scope', () => {
  it('is all that was granted when the request names none', () => {
    expect(answerOf(refresh(active, first)).scope).toEqual(active.scope)
  })

  it('is narrowed for the access token and stays whole for the refresh token', () => {
    const narrowed = refresh(active, first, { scope: 'photos.read' })
    expect(answerOf(narrowed).scope).toEqual(['photos.read'])
    const record = asActive(written(narrowed))
    expect(record.accessTokens.at(-1)!.scope).toEqual(['photos.read'])
    expect(record.scope).toEqual(active.scope)
    const next = refresh(record, answerOf(narrowed).refreshToken!, { scope: 'photos.write photos.read' })
    expect(answerOf(next).scope).toEqual(['photos.write', 'photos.read'])
  })

  it.each([
    ['more than was granted', 'photos.read profile', 'scope_exceeded'],
    ['other letters', 'Photos.Read', 'scope_exceeded'],
    ['a malformed one', 'photos.read  photos.write', 'scope_malformed'],
  ])('is refused for %s, and the token stays good', (_what, scope, reason) => {
    expect(refusal(refresh(active, first, { scope }))).toEqual({
      code: 'invalid_scope',
      reason,
      action: 'none',
    })
  })
})
