import type { Authorization } from '../../lib/authorization/authorization'
import type { IssueContext } from '../../lib/authorization/transition'
import { redeemCode, type Redemption } from '../../lib/authorization/redeem-code'
import { invalidGrant } from '../../lib/protocol/host-errors'
import { approvedAuthorization, redemption, refreshed } from '../support/authorization/authorization'
import { context, later } from '../support/authorization/issue-context'
import { answerOf, refusal, written } from '../support/authorization/step'

const { approved, code } = approvedAuthorization()
const wrongVerifier = {
  rejectReason: () => invalidGrant('verifier_mismatch', 'The verifier does not match.'),
}

const redeem = (
  current: Authorization | undefined,
  bend: Partial<Redemption> = {},
  at: IssueContext = context(),
) => redeemCode(current, redemption(code, bend), at)

/** The authorization after so many wrong verifiers. */
function failed(times: number, current: Authorization = approved): Authorization {
  return times === 0 ? current : failed(times - 1, written(redeem(current, wrongVerifier)))
}

describe('redeemCode, a wrong verifier', () => {
  it('is refused in the words of the extension and counted', () => {
    const step = redeem(approved, wrongVerifier)
    expect(refusal(step)).toEqual({ code: 'invalid_grant', reason: 'verifier_mismatch', action: 'save' })
    expect(written(step)).toEqual({ ...approved, code: { ...approved.code, failures: 1 } })
  })

  it('does not burn the code four times', () => {
    expect(answerOf(redeem(failed(4)))).toBeDefined()
  })

  it('burns the code the fifth time', () => {
    expect(refusal(redeem(failed(5)))).toEqual({
      code: 'invalid_grant',
      reason: 'code_burnt',
      action: 'none',
    })
  })

  it('is not even looked at once the code is burnt', () => {
    const rejectReason = jest.fn()
    expect(refusal(redeem(failed(5), { rejectReason }))).toMatchObject({ reason: 'code_burnt' })
    expect(rejectReason).not.toHaveBeenCalled()
  })

  it('counts with a wrong redirect URI', () => {
    const current = failed(4)
    const fifth = written(redeem(current, { redirectUri: 'https://evil.example/' }))
    expect(refusal(redeem(fifth))).toMatchObject({ reason: 'code_burnt' })
  })

  it('does not make the code live longer', () => {
    expect(failed(1)).toHaveProperty('code.expiresAt', approved.code.expiresAt)
  })
})

describe('redeemCode, a spent code', () => {
  const spent = written(redeem(approved))

  it('revokes the authorization when the same client redeems it a second time', () => {
    expect(refusal(redeem(spent))).toEqual({
      code: 'invalid_grant',
      reason: 'code_replayed',
      action: 'delete',
    })
  })

  it('revokes although the second redemption is wrong or late', () => {
    const wrong = { ...wrongVerifier, redirectUri: 'https://evil.example/' }
    expect(refusal(redeem(spent, wrong))).toMatchObject({ reason: 'code_replayed', action: 'delete' })
    expect(refusal(redeem(spent, {}, later(1000)))).toMatchObject({
      reason: 'code_replayed',
      action: 'delete',
    })
  })

  it('revokes however often the tokens were refreshed since', () => {
    const step = redeem(approved)
    const once = refreshed(written(step), answerOf(step).refreshToken)
    const twice = refreshed(once.active, once.issued.refreshToken)
    expect(refusal(redeem(twice.active))).toMatchObject({ reason: 'code_replayed', action: 'delete' })
  })

  it('revokes nothing in the hands of another client', () => {
    expect(refusal(redeem(spent, { clientId: 'mallory' }))).toEqual({
      code: 'invalid_grant',
      reason: 'code_of_another_client',
      action: 'none',
    })
  })

  it('revokes nothing when only the id is right', () => {
    const guess = `${code.slice(0, -1)}${code.endsWith('A') ? 'B' : 'A'}`
    expect(refusal(redeem(spent, { code: guess }))).toMatchObject({
      reason: 'code_unknown',
      action: 'none',
    })
  })
})
