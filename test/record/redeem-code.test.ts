import type { Approved, Authorization } from '../../lib/authorization/authorization'
import { deny } from '../../lib/authorization/decision'
import { redeemCode, type Redemption } from '../../lib/authorization/redeem-code'
import { type IssueContext, unrestricted } from '../../lib/authorization/transition'
import { invalidGrant } from '../../lib/protocol/host-errors'
import {
  activeAuthorization,
  approvedAuthorization,
  pendingAuthorization,
  redemption,
  refreshed,
} from '../support/authorization/authorization'
import { context, later, lifetimes } from '../support/authorization/issue-context'
import { answerOf, refusal, written } from '../support/authorization/step'

const { approved, code } = approvedAuthorization()
const wrongVerifier = context({
  restrict: () => invalidGrant('verifier_mismatch', 'The verifier does not match.'),
})

const redeem = (
  current: Authorization | undefined,
  bend: Partial<Redemption> = {},
  at: IssueContext = context(),
) => redeemCode(current, redemption(code, bend), at)

/** The authorization after so many wrong verifiers. */
function failed(times: number, current: Authorization = approved): Authorization {
  return times === 0 ? current : failed(times - 1, written(redeem(current, {}, wrongVerifier)))
}

describe('redeemCode', () => {
  it('spends the code and brings the tokens in one write', () => {
    const step = redeem(approved)
    const issued = answerOf(step)
    expect(written(step)).toMatchObject({
      state: 'active',
      id: approved.id,
      clientId: 'photo-printer',
      subject: 'alice',
      scope: ['photos.read', 'photos.write'],
      spentCode: approved.code.digest,
      extensionData: approved.extensionData,
      accessTokens: [{ scope: issued.scope, expiresAt: issued.expiresAt }],
      refreshToken: { generation: 0, rotation: undefined },
    })
    expect(issued.scope).toEqual(approved.scope)
  })

  it('brings no refresh token to a client that may have none', () => {
    const step = redeem(approved, { refreshToken: false })
    expect(answerOf(step).refreshToken).toBeUndefined()
    expect(written(step)).toHaveProperty('refreshToken', undefined)
  })

  it('shows the extensions what they kept', () => {
    const restrict = jest.fn(unrestricted)
    redeem(approved, {}, context({ restrict }))
    expect(restrict).toHaveBeenCalledWith(
      expect.objectContaining({ extensionData: { pkce: 'challenge' }, begins: false }),
    )
  })

  it.each([
    ['the owner has not answered', pendingAuthorization().pending],
    ['the owner has denied', deny(pendingAuthorization().pending)],
    ['the authorization began without a code', { ...activeAuthorization().active, spentCode: undefined }],
    ['it is the code of another authorization', approvedAuthorization().approved],
    ['another code was spent here', activeAuthorization().active],
  ])('knows no such code when %s', (_when, current) => {
    expect(refusal(redeem(current))).toEqual({
      code: 'invalid_grant',
      reason: 'code_unknown',
      action: 'none',
    })
  })

  it('knows no code where nothing is, and confirms that: a replay may not have learnt that its removal is safe', () => {
    expect(refusal(redeem(undefined))).toEqual({
      code: 'invalid_grant',
      reason: 'code_unknown',
      action: 'touch',
    })
  })

  it('refuses another client, which changes nothing', () => {
    expect(refusal(redeem(approved, { clientId: 'mallory', ...wrongVerifier }))).toEqual({
      code: 'invalid_grant',
      reason: 'code_of_another_client',
      action: 'none',
    })
  })

  it('refuses an expired code from its last second on', () => {
    const { authorizationCode } = lifetimes
    expect(answerOf(redeem(approved, {}, later(authorizationCode - 1)))).toBeDefined()
    expect(refusal(redeem(approved, {}, later(authorizationCode)))).toMatchObject({
      reason: 'code_expired',
    })
  })

  it('gives the client one description for every wrong code', () => {
    const { active } = activeAuthorization()
    const descriptions = [undefined, active, approved, failed(5)].map(
      (current) => Object(redeem(current, { clientId: 'mallory' })).refusal.description,
    )
    expect(new Set(descriptions).size).toBe(1)
  })
})

describe('redeemCode, the redirect URI', () => {
  const omitted: Approved = { ...approved, code: { ...approved.code, redirectUriSent: false } }

  it.each([
    ['must be there if the request named it', approved, undefined, 'redirect_uri_missing'],
    ['must be the same', approved, 'https://printer.example/other', 'redirect_uri_mismatch'],
    [
      'must be the same byte for byte',
      approved,
      'https://printer.example/callback/',
      'redirect_uri_mismatch',
    ],
    ['must be the same in its case', approved, 'https://Printer.example/callback', 'redirect_uri_mismatch'],
    [
      'must be the same even if the request left it out',
      omitted,
      'https://evil.example/',
      'redirect_uri_mismatch',
    ],
  ])('%s, or counts as a failure', (_rule, current, redirectUri, reason) => {
    const step = redeem(current, { redirectUri })
    expect(refusal(step)).toEqual({ code: 'invalid_grant', reason, action: 'save' })
    expect(written(step)).toEqual({ ...current, code: { ...current.code, failures: 1 } })
  })

  it('may be left out if the request left it out', () => {
    expect(answerOf(redeem(omitted, { redirectUri: undefined }))).toBeDefined()
    expect(answerOf(redeem(omitted))).toBeDefined()
  })

  it('is looked at before any extension', () => {
    const restrict = jest.fn(unrestricted)
    redeem(approved, { redirectUri: undefined }, context({ restrict }))
    expect(restrict).not.toHaveBeenCalled()
  })
})

describe('redeemCode, a wrong verifier', () => {
  it('is refused with the error of the extension and counted', () => {
    const step = redeem(approved, {}, wrongVerifier)
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
    const restrict = jest.fn(unrestricted)
    expect(refusal(redeem(failed(5), {}, context({ restrict })))).toMatchObject({ reason: 'code_burnt' })
    expect(restrict).not.toHaveBeenCalled()
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
    const wrong = { redirectUri: 'https://evil.example/' }
    expect(refusal(redeem(spent, wrong, wrongVerifier))).toMatchObject({
      reason: 'code_replayed',
      action: 'delete',
    })
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
