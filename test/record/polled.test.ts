import { expiryOf, type Polled } from '../../lib/authorization/authorization'
import { findClaimable } from '../../lib/authorization/claim'
import { findDecidable } from '../../lib/authorization/decision'
import {
  claimPolled,
  createPolledAuthorization,
  decidePolled,
  pollAuthorization,
  type Poll,
} from '../../lib/authorization/polled'
import {
  type GrantedToken,
  type NewAccessToken,
  type TransitionResult,
  unrestricted,
} from '../../lib/authorization/transition'
import { invalidScope } from '../../lib/protocol/oauth-error'
import { asActive, proposal, refreshed } from '../support/authorization/authorization'
import { context, later, lifetimes, noon } from '../support/authorization/issue-context'
import { answerOf, refusal, written } from '../support/authorization/step'

const { clientId, scope, tokenType, extensionData } = proposal
const { polled, handle } = createPolledAuthorization({ clientId, scope, tokenType, extensionData }, context())

/** Alice has claimed the request. */
const claimed = claimPolled(polled, { subject: 'alice', scope: ['photos.read'] }, context())
const { consentToken } = answerOf(claimed)
const asked: Poll = { handle, clientId, refreshToken: true }
const login = { authTime: noon, acr: 'pwd' }
const decision = { consentToken, subject: 'alice', login, ownerReadAt: noon + 60, approved: true }
const polledOf = (step: TransitionResult<unknown>): Polled => {
  const record = written(step)
  if (record.state !== 'polled') throw new Error(`The record is ${record.state}.`)
  return record
}
const approved = polledOf(decidePolled(written(claimed), decision, later(60)))
const denied = polledOf(decidePolled(written(claimed), { ...decision, approved: false }, later(60)))

describe('a polled request', () => {
  it('has the id and the lifetime that its creator chooses', () => {
    const id = 'BBBBBBBBBBBBBBBBBBBBBA'
    const other = createPolledAuthorization(polled, context(), { id, lifetime: 30 })
    expect(other.polled).toMatchObject({ id, expiresAt: noon + 30 })
    expect(polled.expiresAt).toBe(noon + lifetimes.authorizationRequest)
  })

  it('belongs to the first owner who claims it, with at most its scope', () => {
    expect(written(claimed)).toMatchObject({ subject: 'alice', scope: ['photos.read'], decision: undefined })
    expect(refusal(claimPolled(written(claimed), { subject: 'alice' }, context())).reason).toBe(
      'authorization_request_not_open',
    )
    const late = later(lifetimes.authorizationRequest)
    expect(refusal(claimPolled(polled, { subject: 'alice' }, late)).reason).toBe(
      'authorization_request_expired',
    )
    expect(() => claimPolled(polled, { subject: 'alice', scope: ['everything'] }, context())).toThrow(
      TypeError,
    )
  })

  it('keeps the login of the owner who decides it, for every token', () => {
    const mfa = { authTime: noon - 60, acr: 'mfa' }
    const owned = claimPolled(polled, { subject: 'alice', login: mfa }, context())
    const own = { ...decision, consentToken: answerOf(owned).consentToken }
    const allowed = written(decidePolled(written(owned), own, later(60)))
    const active = written(pollAuthorization(allowed, asked, later(65)))
    expect([written(owned), allowed, active].map((record) => record.login)).toEqual([mfa, login, login])
  })

  it('is no request of the authorization endpoint: neither its claim nor its decision', () => {
    expect(findClaimable(polled, { handle, clientId }, noon)).toHaveProperty(
      'reason',
      'authorization_request_not_open',
    )
    expect(findDecidable(written(claimed), decision, noon)).toHaveProperty(
      'reason',
      'authorization_request_not_open',
    )
  })
})

describe('decidePolled', () => {
  it('repeats the same decision, and refuses the opposite one', () => {
    for (const [record, isApproved] of [
      [approved, true],
      [denied, false],
    ] as const) {
      const again = decidePolled(record, { ...decision, approved: isApproved }, later(70))
      expect(again).toEqual({ action: 'touch', outcome: isApproved ? 'approved' : 'denied' })
      const opposite = decidePolled(record, { ...decision, approved: !isApproved }, later(70))
      expect(refusal(opposite).reason).toBe('authorization_request_not_open')
    }
  })

  it.each([
    ['an unclaimed request', polled, {}, 0, 'authorization_request_not_open'],
    ['no request', undefined, {}, 0, 'authorization_request_not_open'],
    ['another consent token', written(claimed), { consentToken: handle }, 0, 'authorization_request_unknown'],
    ['another owner', written(claimed), { subject: 'mallory' }, 0, 'authorization_request_of_another_owner'],
    ['an expired request', written(claimed), {}, 600, 'authorization_request_expired'],
  ])('refuses %s', (_what, record, bend, seconds, reason) => {
    expect(refusal(decidePolled(record, { ...decision, ...bend }, later(seconds))).reason).toBe(reason)
  })

  it('leaves an approval in the last second the time of a code to be polled', () => {
    const last = decidePolled(written(claimed), decision, later(lifetimes.authorizationRequest - 1))
    expect(expiryOf(written(last))).toBe(
      noon + lifetimes.authorizationRequest - 1 + lifetimes.authorizationCode,
    )
  })
})

describe('poll', () => {
  it.each([
    ['no record', undefined, {}, 0, 'invalid_grant', 'handle_unknown'],
    ['another handle', polled, { handle: `${handle.slice(0, -1)}_` }, 0, 'invalid_grant', 'handle_unknown'],
    ['another client', polled, { clientId: 'photo-book' }, 0, 'invalid_grant', 'handle_of_another_client'],
    ['an unclaimed request', polled, {}, 0, 'authorization_pending', 'owner_has_not_decided'],
    ['an undecided request', written(claimed), {}, 0, 'authorization_pending', 'owner_has_not_decided'],
    ['a denied request', denied, {}, 70, 'access_denied', 'owner_denied'],
    ['an expired request', polled, {}, 600, 'expired_token', 'authorization_request_expired'],
    ['an approval that has expired', approved, {}, 600, 'expired_token', 'authorization_request_expired'],
  ])('refuses %s', (_what, record, bend, seconds, code, reason) => {
    expect(refusal(pollAuthorization(record, { ...asked, ...bend }, later(seconds)))).toMatchObject({
      code,
      reason,
    })
  })

  const first = pollAuthorization(approved, asked, later(70))
  const active = asActive(written(first))

  it('gives the tokens of the owner with the scope of the decision', () => {
    expect(answerOf(first)).toMatchObject({ scope: ['photos.read'], refreshToken: expect.any(String) })
    expect(active).toMatchObject({ subject: 'alice', spentCode: approved.handle, scope: ['photos.read'] })
    expect(JSON.stringify(active)).not.toContain(handle)
  })

  it('gives the same tokens again within the grace, and the same decision still counts', () => {
    const again = pollAuthorization(active, asked, later(70 + lifetimes.refreshTokenGrace - 1))
    expect(again).toMatchObject({ action: 'touch', outcome: answerOf(first), event: { reason: 'repeated' } })
    expect(decidePolled(active, decision, later(80))).toEqual({ action: 'touch', outcome: 'approved' })
    expect(refusal(decidePolled(active, { ...decision, approved: false }, later(80))).reason).toBe(
      'authorization_request_not_open',
    )
  })

  it('refuses after the grace, and after a refresh, and ends no authorization that lives', () => {
    const late = pollAuthorization(active, asked, later(70 + lifetimes.refreshTokenGrace))
    expect(late).toMatchObject({ action: 'none', refusal: { reason: 'handle_replayed' } })
    const rotated = refreshed(active, answerOf(first).refreshToken, later(75)).active
    expect(pollAuthorization(rotated, asked, later(76))).toMatchObject({
      action: 'none',
      refusal: { reason: 'handle_replayed' },
    })
  })

  it('is no repetition by another client, and none with another handle', () => {
    expect(refusal(pollAuthorization(active, { ...asked, clientId: 'photo-book' }, later(500))).reason).toBe(
      'handle_of_another_client',
    )
    expect(refusal(pollAuthorization(active, { ...asked, handle: 'rh_' }, later(500))).reason).toBe(
      'handle_unknown',
    )
  })

  it.each([true, false])(
    'ends with its grant, which begins with the first tokens (refresh tokens: %s)',
    (refreshToken) => {
      const brief = (seconds: number) => later(seconds, { grant: 20 })
      const poll = { ...asked, refreshToken }
      const step = pollAuthorization(approved, poll, brief(70))
      expect(answerOf(step).expiresAt).toBe(noon + 90)
      expect(expiryOf(written(step))).toBe(noon + 90)
      const again = pollAuthorization(written(step), poll, brief(80))
      expect(answerOf(again).expiresAt).toBe(noon + 90)
      const over = pollAuthorization(written(step), poll, brief(90))
      expect(refusal(over)).toMatchObject({ reason: 'grant_expired', action: 'delete' })
    },
  )

  describe('of a client without refresh tokens', () => {
    const withoutRefresh = { ...asked, refreshToken: false }
    const step = pollAuthorization(approved, withoutRefresh, later(70))
    const once = asActive(written(step))

    it('gives the same access token again within the grace, and refuses later', () => {
      expect(pollAuthorization(once, withoutRefresh, later(75))).toMatchObject({
        action: 'touch',
        outcome: answerOf(step),
        event: { name: 'issued', reason: 'repeated' },
      })
      expect(pollAuthorization(once, withoutRefresh, later(70 + lifetimes.refreshTokenGrace))).toMatchObject({
        action: 'none',
        refusal: { reason: 'handle_replayed' },
      })
    })

    it('gives another token for another scope, other data, and after the end of the first one', () => {
      const another = (bend: Partial<NewAccessToken>, seconds = 75, accessToken = lifetimes.accessToken) => {
        const moment = later(seconds, { accessToken, refreshTokenGrace: 7200 })
        const restrict = (granted: GrantedToken) => ({ ...unrestricted(granted), ...bend })
        const again = pollAuthorization(once, withoutRefresh, { ...moment, restrict })
        return answerOf(again).accessToken === answerOf(step).accessToken
      }
      expect(another({})).toBe(true)
      expect(another({ scope: [] })).toBe(false)
      expect(another({ extensionData: { other: 1 } })).toBe(false)
      expect(another({}, 70 + lifetimes.accessToken)).toBe(false)
    })

    it('gives a new token each time without a grace', () => {
      const none = later(70, { refreshTokenGrace: 0 })
      const tokens = [1, 2].map(() => answerOf(pollAuthorization(approved, withoutRefresh, none)).accessToken)
      expect(new Set(tokens).size).toBe(2)
    })
  })

  it('saves nothing for a refusal of an extension, so that the client may ask again', () => {
    const error = invalidScope('scope_exceeded', 'x')
    const refused = pollAuthorization(approved, asked, { ...later(70), restrict: () => error })
    expect(refused).toEqual({ action: 'none', refusal: error })
  })
})
