import { expiryOf } from '../../lib/authorization/authorization'
import {
  approveWithAccessToken,
  approveWithCode,
  deny,
  findDecidable,
  withForm,
} from '../../lib/authorization/decision'
import { credentialId, digest, hasDigest } from '../../lib/protocol/credential'
import {
  approvalOf,
  approvedAuthorization,
  pendingAuthorization,
  proposal,
} from '../support/authorization/authorization'
import { context, lifetimes, noon } from '../support/authorization/issue-context'

describe('propose', () => {
  const { pending, consentToken } = pendingAuthorization()

  it('begins an authorization with all that was asked', () => {
    expect(pending).toMatchObject({ ...proposal, state: 'pending' })
  })

  it('gives the consent form a token that names the record, and the record its digest only', () => {
    expect(credentialId('authorizationRequest', consentToken)).toBe(pending.id)
    expect(hasDigest(consentToken, pending.consentToken)).toBe(true)
    expect(JSON.stringify(pending)).not.toContain(consentToken)
  })

  it('waits for an answer as long as a request lives', () => {
    expect(expiryOf(pending)).toBe(noon + lifetimes.authorizationRequest)
  })

  it('gives each request an id and a consent token of its own', () => {
    const other = pendingAuthorization()
    expect(other.pending.id).not.toBe(pending.id)
    expect(other.consentToken).not.toBe(consentToken)
  })
})

const { pending, consentToken } = pendingAuthorization()
const answer = { consentToken, subject: 'alice', approved: true }
const denial = { ...answer, approved: false }
const { approved } = approvalOf(pending, consentToken)
const denied = deny(pending)
const implicit = withForm(approveWithAccessToken(pending, context()).authorization, pending, 'salt')

describe('answered', () => {
  it('is the request, for its own owner with its consent token', () => {
    expect(findDecidable(pending, answer, noon)).toBe(pending)
    expect(findDecidable(pending, denial, pending.expiresAt - 1)).toBe(pending)
  })

  it.each([
    ['approved', approved, true],
    ['approved with an access token', implicit, true],
    ['denied', denied, false],
  ])('is what was %s, for the same answer alone', (_how, current, wasApproved) => {
    expect(findDecidable(current, { ...answer, approved: wasApproved }, noon)).toBe(current)
    expect(findDecidable(current, { ...answer, approved: !wasApproved }, noon)).toMatchObject({
      code: 'invalid_request',
      reason: 'authorization_request_not_open',
    })
    expect(
      findDecidable(current, { ...answer, approved: wasApproved, subject: 'mallory' }, noon),
    ).toHaveProperty('reason', 'authorization_request_of_another_owner')
    const other = { ...answer, approved: wasApproved, consentToken: pendingAuthorization().consentToken }
    expect(findDecidable(current, other, noon)).toHaveProperty('reason', 'authorization_request_unknown')
  })

  it.each([
    ['there is no such request', undefined],
    ['there was no form', approveWithCode(pending, context()).authorization],
    ['its code has expired', { ...approved, code: { ...approved.code, expiresAt: noon } }],
    ['its code is burnt', { ...approved, code: { ...approved.code, failures: 5 } }],
  ])('is nothing any more when %s', (_when, current) => {
    expect(findDecidable(current, answer, noon)).toMatchObject({
      code: 'invalid_request',
      reason: 'authorization_request_not_open',
    })
  })

  it.each([
    [
      "another request's consent token",
      { consentToken: pendingAuthorization().consentToken },
      'authorization_request_unknown',
    ],
    [
      'a forged consent token',
      { consentToken: `${consentToken.slice(0, -1)}_` },
      'authorization_request_unknown',
    ],
    ['no consent token', { consentToken: '' }, 'authorization_request_unknown'],
    [
      'another owner with the consent token',
      { subject: 'mallory' },
      'authorization_request_of_another_owner',
    ],
  ])('is refused to %s', (_whom, bend, reason) => {
    expect(findDecidable(pending, { ...answer, ...bend }, noon)).toMatchObject({
      code: 'invalid_request',
      reason,
    })
  })

  it('gives another owner the same refusal as a wrong consent token', () => {
    const stranger = findDecidable(pending, { ...answer, subject: 'mallory' }, noon)
    const guesser = findDecidable(pending, { ...answer, consentToken: '' }, noon)
    expect(stranger).toHaveProperty('description', Object(guesser).description)
  })

  it('comes too late when the request has expired', () => {
    for (const [current, late] of [
      [pending, answer],
      [denied, denial],
    ] as const)
      expect(findDecidable(current, late, pending.expiresAt)).toHaveProperty(
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
    expect(authorization).toMatchObject({ consentToken: undefined, code: { repetition: undefined } })
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
      consentToken: undefined,
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
