import { type Authorization, expiryOf } from '../../lib/authorization/authorization'
import {
  authorizationIdOf,
  claim,
  createDemandedLogin,
  demandLogin,
  findClaimable,
} from '../../lib/authorization/claim'
import { findDecidable } from '../../lib/authorization/decision'
import { credentialId, hasDigest } from '../../lib/protocol/credential'
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
    expect(attempt(written(claimed), handle, 60)).toBe('authorization_request_not_open')
    expect(attempt(undefined, handle, 0)).toBe('authorization_request_not_open')
    expect(attempt(unclaimed, `${handle.slice(0, -1)}_`, 0)).toBe('authorization_request_unknown')
    expect(attempt(unclaimed, handle, 0, { clientId: 'photo-book' })).toBe(
      'authorization_request_of_another_client',
    )
    expect(attempt(unclaimed, handle, lifetimes.authorizationRequest)).toBe('authorization_request_expired')
  })

  it('goes before every answer: the handle of the client decides nothing', () => {
    const answer = { consentToken: handle, subject: 'mallory', approved: true }
    expect(findDecidable(unclaimed, answer, noon)).toHaveProperty('reason', 'authorization_request_not_open')
  })

  it('expires with the request', () => {
    expect(expiryOf(unclaimed)).toBe(noon + lifetimes.authorizationRequest)
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

  it('of a request that its client pushed keeps the time of the first demand', () => {
    const named = { handle, clientId: 'photo-printer' }
    const first = written(demandLogin(unclaimed, named, later(5)))
    expect(first).toEqual({ ...unclaimed, demandedLogin: { at: noon + 5, parameters: undefined } })
    expect(demandLogin(first, named, later(9))).toEqual({ action: 'none', outcome: undefined })
  })

  it('of a request that is no longer unclaimed is refused', () => {
    const named = { handle, clientId: 'photo-printer' }
    expect(refusal(demandLogin(undefined, named, context())).reason).toBe('authorization_request_not_open')
    const late = demandLogin(unclaimed, named, later(lifetimes.authorizationRequest))
    expect(refusal(late).reason).toBe('authorization_request_expired')
  })
})
