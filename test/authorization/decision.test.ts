import { type Authorization, expiryOf } from '../../lib/authorization/authorization'
import {
  approveWithAccessToken,
  approveWithCode,
  claim,
  deny,
  requireAnswerable,
  withForm,
} from '../../lib/authorization/decision'
import { credentialId, digest, hasDigest } from '../../lib/protocol/credential'
import {
  approvalOf,
  approvedAuthorization,
  pendingAuthorization,
  proposal,
  unclaimedAuthorization,
} from '../support/authorization/authorization'
import { context, later, lifetimes, noon } from '../support/authorization/issue-context'
import { answerOf, refusal, written } from '../support/authorization/step'

describe('propose', () => {
  const { pending, handle } = pendingAuthorization()

  it('begins an authorization with all that was asked', () => {
    expect(pending).toMatchObject({ ...proposal, state: 'pending' })
  })

  it('gives the consent form a handle that names the record, and the record its digest only', () => {
    expect(credentialId('authorizationRequest', handle)).toBe(pending.id)
    expect(hasDigest(handle, pending.handle)).toBe(true)
    expect(JSON.stringify(pending)).not.toContain(handle)
  })

  it('waits for an answer as long as a request lives', () => {
    expect(expiryOf(pending)).toBe(noon + lifetimes.authorizationRequest)
  })

  it('gives each request an id and a handle of its own', () => {
    const other = pendingAuthorization()
    expect(other.pending.id).not.toBe(pending.id)
    expect(other.handle).not.toBe(handle)
  })
})

describe('claim', () => {
  const { unclaimed, handle: clientsHandle } = unclaimedAuthorization()
  const claimed = claim(unclaimed, { handle: clientsHandle, subject: 'alice' }, later(60))

  it('makes the request one of its owner, with a handle that its client does not know', () => {
    const { pending: own, handle: formHandle } = answerOf(claimed)
    expect(written(claimed)).toEqual(own)
    expect(own).toMatchObject({ ...proposal, state: 'pending', id: unclaimed.id, subject: 'alice' })
    expect(hasDigest(formHandle, own.handle)).toBe(true)
    expect(hasDigest(clientsHandle, own.handle)).toBe(false)
    expect(expiryOf(own)).toBe(noon + 60 + lifetimes.authorizationRequest)
    expect(requireAnswerable(own, { handle: formHandle, subject: 'alice', approved: true }, noon)).toBe(own)
  })

  it('takes a request once, and only for its handle, in its time', () => {
    const attempt = (current: Authorization | undefined, given: string, seconds: number) =>
      refusal(claim(current, { handle: given, subject: 'mallory' }, later(seconds))).reason
    expect(attempt(written(claimed), clientsHandle, 60)).toBe('authorization_request_not_open')
    expect(attempt(undefined, clientsHandle, 0)).toBe('authorization_request_not_open')
    expect(attempt(unclaimed, `${clientsHandle.slice(0, -1)}_`, 0)).toBe('authorization_request_unknown')
    expect(attempt(unclaimed, clientsHandle, lifetimes.authorizationRequest)).toBe(
      'authorization_request_expired',
    )
  })

  it('goes before every answer: the handle of the client decides nothing', () => {
    const answer = { handle: clientsHandle, subject: 'mallory', approved: true }
    expect(requireAnswerable(unclaimed, answer, noon)).toHaveProperty(
      'reason',
      'authorization_request_not_open',
    )
  })

  it('expires with the request', () => {
    expect(expiryOf(unclaimed)).toBe(noon + lifetimes.authorizationRequest)
  })
})

const { pending, handle } = pendingAuthorization()
const answer = { handle, subject: 'alice', approved: true }
const denial = { ...answer, approved: false }
const { approved } = approvalOf(pending, handle)
const denied = deny(pending)
const implicit = withForm(approveWithAccessToken(pending, context()).authorization, pending, 'salt')

describe('answered', () => {
  it('is the request, for its own owner with its handle', () => {
    expect(requireAnswerable(pending, answer, noon)).toBe(pending)
    expect(requireAnswerable(pending, denial, pending.expiresAt - 1)).toBe(pending)
  })

  it.each([
    ['approved', approved, true],
    ['approved with an access token', implicit, true],
    ['denied', denied, false],
  ])('is what was %s, for the same answer alone', (_how, current, wasApproved) => {
    expect(requireAnswerable(current, { ...answer, approved: wasApproved }, noon)).toBe(current)
    expect(requireAnswerable(current, { ...answer, approved: !wasApproved }, noon)).toMatchObject({
      code: 'invalid_request',
      reason: 'authorization_request_not_open',
    })
    expect(
      requireAnswerable(current, { ...answer, approved: wasApproved, subject: 'mallory' }, noon),
    ).toHaveProperty('reason', 'authorization_request_of_another_owner')
    const other = { ...answer, approved: wasApproved, handle: pendingAuthorization().handle }
    expect(requireAnswerable(current, other, noon)).toHaveProperty('reason', 'authorization_request_unknown')
  })

  it.each([
    ['there is no such request', undefined],
    ['there was no form', approveWithCode(pending, context()).authorization],
    ['its code has expired', { ...approved, code: { ...approved.code, expiresAt: noon } }],
    ['its code is burnt', { ...approved, code: { ...approved.code, failures: 5 } }],
  ])('is nothing any more when %s', (_when, current) => {
    expect(requireAnswerable(current, answer, noon)).toMatchObject({
      code: 'invalid_request',
      reason: 'authorization_request_not_open',
    })
  })

  it.each([
    ["another request's handle", { handle: pendingAuthorization().handle }, 'authorization_request_unknown'],
    ['a forged handle', { handle: `${handle.slice(0, -1)}_` }, 'authorization_request_unknown'],
    ['no handle', { handle: '' }, 'authorization_request_unknown'],
    [
      'another owner, whoever has the handle',
      { subject: 'mallory' },
      'authorization_request_of_another_owner',
    ],
  ])('is refused to %s', (_whom, bend, reason) => {
    expect(requireAnswerable(pending, { ...answer, ...bend }, noon)).toMatchObject({
      code: 'invalid_request',
      reason,
    })
  })

  it('tells another owner no more than one with a wrong handle', () => {
    const stranger = requireAnswerable(pending, { ...answer, subject: 'mallory' }, noon)
    const guesser = requireAnswerable(pending, { ...answer, handle: '' }, noon)
    expect(stranger).toHaveProperty('description', Object(guesser).description)
  })

  it('comes too late when the request has expired', () => {
    for (const [current, late] of [
      [pending, answer],
      [denied, denial],
    ] as const)
      expect(requireAnswerable(current, late, pending.expiresAt)).toHaveProperty(
        'reason',
        'authorization_request_expired',
      )
  })
})

describe('approveWithCode', () => {
  const { authorization, code } = approveWithCode(pending, context())

  it('issues a code that names the record, and keeps its digest only', () => {
    expect(credentialId('authorizationCode', code)).toBe(pending.id)
    expect(hasDigest(code, authorization.code.digest)).toBe(true)
    expect(JSON.stringify(authorization)).not.toContain(code)
  })

  it('binds the code to the client, the owner, the scope and the redirect URI', () => {
    const { clientId, subject, scope, extensionData, request } = proposal
    const { redirectUri, redirectUriSent } = request
    expect(authorization).toMatchObject({ id: pending.id, clientId, subject, scope, extensionData })
    expect(authorization.code).toMatchObject({ redirectUri, redirectUriSent, failures: 0 })
  })

  it('leaves nothing of the request that only its answer needed', () => {
    expect(authorization).not.toHaveProperty('request')
    expect(authorization).toMatchObject({ handle: undefined, code: { repetition: undefined } })
  })

  it('lets the code live for its own time, counted from the approval', () => {
    const late = context({ now: noon + 500 })
    expect(expiryOf(approveWithCode(pending, late).authorization)).toBe(
      noon + 500 + lifetimes.authorizationCode,
    )
  })

  it('issues another code for each approval', () => {
    expect(approvedAuthorization().code).not.toBe(approvedAuthorization().code)
  })
})

describe('approveWithAccessToken', () => {
  const { authorization, issued } = approveWithAccessToken(pending, context())

  it('issues an access token to the whole scope, and neither code nor refresh token (AUZ-8)', () => {
    const { clientId, subject, scope, tokenType, extensionData } = proposal
    const expiresAt = noon + lifetimes.accessToken
    expect(issued).toEqual({
      accessToken: expect.any(String),
      tokenType,
      properties: {},
      expiresAt,
      scope,
      refreshToken: undefined,
    })
    expect(authorization).toEqual({
      state: 'active',
      id: pending.id,
      issuerDigest: pending.issuerDigest,
      handle: undefined,
      clientId,
      subject,
      scope,
      tokenType,
      extensionData,
      spentCode: undefined,
      accessTokens: [
        { digest: digest(issued.accessToken), scope, expiresAt, tokenData: undefined, extensionData: {} },
      ],
      refreshToken: undefined,
    })
    expect(expiryOf(authorization)).toBe(expiresAt)
  })
})

describe('deny', () => {
  it('stays on record for as long as the form could be sent again, with all that its answer needs', () => {
    expect(deny(pending)).toEqual({ ...pending, state: 'denied' })
    expect(expiryOf(deny(pending))).toBe(expiryOf(pending))
  })
})
