import type { Active, Authorization } from '../../lib/authorization/authorization'
import type { IssueContext } from '../../lib/authorization/transition'
import { presentAccessToken } from '../../lib/authorization/lookup'
import { rotateRefreshToken, type Refresh } from '../../lib/authorization/refresh'
import { createRefreshToken, secureRandom } from '../../lib/protocol/credential'
import { activeAuthorization, refreshed, refreshWith } from '../support/authorization/authorization'
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

const strict = { refreshTokenGrace: 0 }
const reused = { code: 'invalid_grant', reason: 'refresh_token_reused', action: 'delete' }

describe('rotateRefreshToken, a token presented again', () => {
  it('gets the same tokens within the grace, and only what is there is written again', () => {
    const again = refresh(afterFirst.active, first, {}, later(lifetimes.refreshTokenGrace - 1))
    expect(again).toMatchObject({ action: 'touch', outcome: afterFirst.issued })
  })

  it('gets the same tokens however often it comes', () => {
    for (let time = 0; time < 5; time++)
      expect(answerOf(refresh(afterFirst.active, first))).toEqual(afterFirst.issued)
  })

  it('gets a new access token beside the same refresh token when the first one has ended within the grace', () => {
    const short = { accessToken: 10 }
    const rotated = refreshed(active, first, later(0, short))
    const again = refresh(rotated.active, first, {}, later(10, short))
    expect(answerOf(again)).toMatchObject({
      expiresAt: noon + 20,
      scope: rotated.issued.scope,
      refreshToken: rotated.issued.refreshToken,
    })
    expect(answerOf(again).accessToken).not.toBe(rotated.issued.accessToken)
    expect(written(again)).toHaveProperty('refreshToken', rotated.active.refreshToken)
    expect(presentAccessToken(written(again), answerOf(again).accessToken, noon + 10)).toBeDefined()
  })

  it('gets another one of the scope that it asks for, when the first was forgotten since', () => {
    const short = { accessToken: 10 }
    const rotated = refreshed(active, first, later(0, short))
    const bend = { scope: 'photos.read' }
    const again = written(refresh(rotated.active, first, bend, later(10, short)))
    const third = refresh(again, first, bend, later(11, short))
    expect(answerOf(third)).toMatchObject({
      expiresAt: noon + 21,
      scope: ['photos.read'],
      refreshToken: rotated.issued.refreshToken,
    })
    expect(presentAccessToken(written(third), answerOf(third).accessToken, noon + 11)).toBeDefined()
  })

  it('revokes once the grace is over', () => {
    expect(refusal(refresh(afterFirst.active, first, {}, later(lifetimes.refreshTokenGrace)))).toEqual(reused)
  })

  it('revokes at once without a grace', () => {
    const record = refreshed(active, first, later(0, strict)).active
    expect(refusal(refresh(record, first, {}, later(0, strict)))).toEqual(reused)
    expect(refusal(refresh(record, first, {}, later(0)))).toEqual(reused)
    expect(refusal(refresh(afterFirst.active, first, {}, later(0, strict)))).toEqual(reused)
  })

  it('revokes when it is an older generation, even within the grace', () => {
    expect(refusal(refresh(afterSecond.active, first))).toEqual(reused)
  })

  it('revokes although it has expired long since', () => {
    expect(refusal(refresh(afterSecond.active, first, {}, later(2 * lifetimes.refreshToken)))).toEqual(reused)
  })

  it('is refused and revokes nothing when it was current as the request came, and others rotated twice meanwhile', () => {
    const slow = rotateRefreshToken(afterSecond.active, refreshWith(first), context(), active)
    expect(refusal(slow)).toMatchObject({ reason: 'refresh_token_superseded', action: 'none' })
    const older = rotateRefreshToken(afterSecond.active, refreshWith(first), context(), afterFirst.active)
    expect(refusal(older)).toEqual(reused)
  })

  it('revokes without a grace, even when it was current as the request came', () => {
    const record = refreshed(active, first, later(0, strict)).active
    expect(refusal(rotateRefreshToken(record, refreshWith(first), later(0, strict), active))).toEqual(reused)
  })

  it.each([
    ['scope_exceeded', 'photos.read photos.delete'],
    ['scope_malformed', 'photos.read  photos.write'],
  ])('is held to the granted scope within the grace, too: %s', (reason, scope) => {
    expect(refusal(refresh(afterFirst.active, first, { scope }))).toMatchObject({ reason, action: 'none' })
  })

  it.each([
    ['within the grace', afterFirst.active],
    ['as an older generation', afterSecond.active],
  ])('gets and revokes nothing in the hands of another client, %s', (_when, current) => {
    expect(refusal(refresh(current, first, { clientId: 'mallory' }))).toMatchObject({
      reason: 'refresh_token_of_another_client',
      action: 'none',
    })
  })

  it('revokes when it is not the token that was rotated out, though of its generation', () => {
    const twin = createRefreshToken(active.id, 0, active.refreshToken!.tagKey, secureRandom)
    expect(refusal(refresh(afterFirst.active, twin))).toEqual(reused)
  })

  it('leaves only the answer of the last rotation on record, and no token in clear', () => {
    const records: readonly Active[] = [active, afterFirst.active, afterSecond.active]
    expect(records.map((record) => record.refreshToken!.rotation !== undefined)).toEqual([false, true, true])
    const text = JSON.stringify(records)
    for (const token of [first, afterFirst.issued.refreshToken!, afterFirst.issued.accessToken])
      expect(text).not.toContain(token.slice(3))
  })

  it('leaves no answer on record without a grace', () => {
    expect(refreshed(active, first, later(0, strict)).active.refreshToken!.rotation).toBeUndefined()
  })
})
