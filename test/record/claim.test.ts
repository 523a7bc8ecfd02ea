import { type Authorization, expiryOf } from '../../lib/authorization/authorization'
import {
  authorizationIdOf,
  claim,
  createDemandedLogin,
  createUnclaimedAuthorization,
  demandLogin,
  findClaimable,
  noteArrival,
} from '../../lib/authorization/claim'
import { deny, findDecidable } from '../../lib/authorization/decision'
import { credentialId, hasDigest, secureRandom } from '../../lib/protocol/credential'
import { proposal, unclaimedAuthorization } from '../support/authorization/authorization'
import { context, later, lifetimes, noon } from '../support/authorization/issue-context'
import { answerOf, refusal, written } from '../support/authorization/step'

const { unclaimed, handle } = unclaimedAuthorization()

describe('claim', () => {
  const narrowed = { ...proposal, scope: ['photos.read'] }
  const claimed = claim(unclaimed, handle, narrowed, later(60))

  it('makes the request one of its owner as the server has parsed it, with a consent token that its client does not know', () => {
    const { pending: own, consentToken } = answerOf(claimed)
    expect(written(claimed)).toEqual(own)
    expect(own).toMatchObject({ ...narrowed, state: 'pending', id: unclaimed.id, subject: 'alice' })
    expect(hasDigest(consentToken, own.consentToken)).toBe(true)
    expect(hasDigest(handle, own.consentToken)).toBe(false)
    expect(expiryOf(own)).toBe(noon + 60 + lifetimes.authorizationRequest)
    expect(findDecidable(own, { consentToken, subject: 'alice', approved: true }, noon)).toBe(own)
  })

  it('takes a request once, only by its handle, only for its client, and only in its time', () => {
    const attempt = (current: Authorization | undefined, given: string, seconds: number, bend = {}) =>
      refusal(claim(current, given, { ...proposal, ...bend }, later(seconds))).reason
    expect(attempt(written(claimed), handle, 60, { subject: 'bob' })).toBe(
      'authorization_request_of_another_owner',
    )
    expect(attempt(deny(answerOf(claimed).pending), handle, 60)).toBe('authorization_request_not_open')
    expect(attempt(undefined, handle, 0)).toBe('authorization_request_not_open')
    expect(attempt(unclaimed, `${handle.slice(0, -1)}_`, 0)).toBe('authorization_request_unknown')
    expect(attempt(unclaimed, handle, 0, { clientId: 'photo-book' })).toBe(
      'authorization_request_of_another_client',
    )
    expect(attempt(unclaimed, handle, lifetimes.authorizationRequest)).toBe('authorization_request_expired')
  })

  it('gives the same owner the same form again, without a write and without a longer life', () => {
    const { pending: own, consentToken } = answerOf(claimed)
    const again = claim(own, handle, narrowed, later(500))
    expect(again.action).toBe('none')
    expect(answerOf(again)).toEqual({ pending: own, consentToken, isAgain: true })
  })

  it.each([
    ['the scope', { scope: ['photos.write'] }],
    ['what extensions keep', { extensionData: { pkce: 'another' } }],
    ['the redirection URI', { request: { ...narrowed.request, redirectUri: 'https://printer.example/new' } }],
  ])('gives the owner another form in place of the first one if %s has changed', (_what, bend) => {
    const first = answerOf(claimed)
    const again = answerOf(claim(first.pending, handle, { ...narrowed, ...bend }, later(500)))
    expect(again.pending).toMatchObject({ ...bend, expiresAt: first.pending.expiresAt })
    expect(again.consentToken).not.toBe(first.consentToken)
    const answer = { consentToken: first.consentToken, subject: 'alice', approved: true }
    expect(findDecidable(again.pending, answer, noon)).toHaveProperty(
      'reason',
      'authorization_request_unknown',
    )
  })

  it('keeps a newer login of the owner, with the same form', () => {
    const first = answerOf(claimed)
    const login = { authTime: noon + 70 }
    const again = claim(first.pending, handle, { ...narrowed, login }, later(80))
    expect(written(again)).toEqual({ ...first.pending, login })
    expect(answerOf(again).consentToken).toBe(first.consentToken)
  })

  it('makes a consent token that needs both the handle and the record', () => {
    const { pending: own, consentToken } = answerOf(claimed)
    expect(JSON.stringify(own)).not.toContain(consentToken)
    expect(JSON.stringify(own)).not.toContain(handle)
    const other = answerOf(claim(unclaimed, handle, narrowed, context({ random: secureRandom })))
    expect(other.consentToken).not.toBe(consentToken)
  })

  it('keeps the parameters of the client until the decision, and no longer', () => {
    const { subject: _subject, ...withoutOwner } = proposal
    const pushed = createUnclaimedAuthorization(withoutOwner, context(), { parameters: 'a=b', lifetime: 60 })
    expect(expiryOf(pushed.unclaimed)).toBe(noon + 60)
    const { pending: own } = answerOf(claim(pushed.unclaimed, pushed.handle, proposal, later(59)))
    expect(own.named).toMatchObject({ pushed: 'a=b' })
    expect(JSON.stringify(deny(own))).not.toContain('a=b')
  })

  it('goes before every answer: the handle of the client decides nothing', () => {
    const answer = { consentToken: handle, subject: 'mallory', approved: true }
    expect(findDecidable(unclaimed, answer, noon)).toHaveProperty('reason', 'authorization_request_not_open')
  })

  it('expires with the request', () => {
    expect(expiryOf(unclaimed)).toBe(noon + lifetimes.authorizationRequest)
  })
})

describe('a browser that brings a request', () => {
  const { subject: _subject, ...withoutOwner } = proposal
  const made = createUnclaimedAuthorization(withoutOwner, context(), { lifetime: 60 })
  const named = { handle: made.handle, clientId: proposal.clientId }

  it('lengthens its life once', () => {
    const seen = written(noteArrival(made.unclaimed, named, later(59)))
    expect(expiryOf(seen)).toBe(noon + 59 + lifetimes.authorizationRequest)
    expect(noteArrival(seen, named, later(100))).toEqual({ action: 'none', outcome: undefined })
  })

  it('comes too late after the lifetime of the client, and needs no note without one', () => {
    expect(refusal(noteArrival(made.unclaimed, named, later(60))).reason).toBe(
      'authorization_request_expired',
    )
    const usual = { handle, clientId: proposal.clientId }
    expect(noteArrival(unclaimed, usual, context())).toEqual({ action: 'none', outcome: undefined })
  })

  it('lengthens it also where a login is demanded', () => {
    const demanded = written(demandLogin(made.unclaimed, named, later(59)))
    expect(demanded).toMatchObject({
      demandedLogin: { at: noon + 59, parameters: undefined },
      expiresAt: noon + 59 + lifetimes.authorizationRequest,
    })
  })
})

describe('a demanded login', () => {
  const { subject: _subject, ...withoutOwner } = proposal
  const { unclaimed: demanded, reference } = createDemandedLogin(withoutOwner, 'digest', context())

  it('is kept with its time and the digest of the parameters, and the reference by its digest', () => {
    expect(demanded).toMatchObject({ subject: undefined, demandedLogin: { at: noon, parameters: 'digest' } })
    expect(hasDigest(reference, demanded.handle)).toBe(true)
    expect(JSON.stringify(demanded)).not.toContain(reference)
  })

  it('has a reference that is no handle of a client and no consent token', () => {
    expect(credentialId('loginReference', reference)).toBe(demanded.id)
    expect(authorizationIdOf(reference)).toBeUndefined()
    const consentToken = reference.replace('lr_', 'ar_')
    const found = findClaimable(
      demanded,
      { handle: reference.replace('lr_', 'rh_'), clientId: 'photo-printer' },
      noon,
    )
    expect(found).toHaveProperty('reason', 'authorization_request_unknown')
    expect(findDecidable(demanded, { consentToken, subject: 'alice', approved: true }, noon)).toHaveProperty(
      'reason',
      'authorization_request_not_open',
    )
  })

  it('of a request that its client pushed keeps the time of the demand, and of a later one', () => {
    const named = { handle, clientId: 'photo-printer' }
    const first = written(demandLogin(unclaimed, named, later(5)))
    expect(first).toEqual({ ...unclaimed, demandedLogin: { at: noon + 5, parameters: undefined } })
    expect(written(demandLogin(first, named, later(9)))).toMatchObject({ demandedLogin: { at: noon + 9 } })
  })

  it('of a request that its owner has claimed stays with it', () => {
    const { pending: own } = answerOf(claim(unclaimed, handle, proposal, later(1)))
    const named = { handle, clientId: 'photo-printer' }
    const demandedAgain = written(demandLogin(own, named, later(5)))
    expect(demandedAgain).toMatchObject({ state: 'pending', named: { demandedLogin: { at: noon + 5 } } })
  })

  it('of a request that is no longer unclaimed is refused', () => {
    const named = { handle, clientId: 'photo-printer' }
    expect(refusal(demandLogin(undefined, named, context())).reason).toBe('authorization_request_not_open')
    const late = demandLogin(unclaimed, named, later(lifetimes.authorizationRequest))
    expect(refusal(late).reason).toBe('authorization_request_expired')
  })
})
