import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { pkce, type PkceRequirement } from '../../lib/extensions/pkce'
import type { Json } from '../../lib/protocol/json'
import { OAuthError } from '../../lib/protocol/oauth-error'
import { clientWith } from '../support/authorization/client'
import { thrownBy } from '../support/authorization/thrown'
import { parametersOf } from '../support/rooms/parameters'

const phone = clientWith({ client_type: 'public', client_secret_hashes: [] })
const printer = clientWith()

// RFC 7636 appendix B.
const vector = {
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
}
const good = { code_challenge: vector.challenge, code_challenge_method: 'S256' }

const responseType = { name: 'code', grantTypes: ['authorization_code'] }

const redemption = {
  grantType: 'authorization_code',
  subject: 'alice',
  scope: ['photos'],
  requestedScope: undefined,
  begins: false,
  subjectToken: undefined,
  audience: [],
  evidence: undefined,
}

const way = { redirectUri: 'https://phone.example/callback', scope: ['photos'] }

type Values = Parameters<typeof parametersOf>[0]
const requested = (values: Values, requirement: PkceRequirement = 'public', client = phone) =>
  pkce(requirement).atAuthorizationRequest?.({
    ...way,
    client,
    parameters: parametersOf(values),
    responseType,
  })
const redeem = (code_verifier: string | undefined, data: Json | undefined = vector.challenge) =>
  refusalOfRedemption('public', phone, { code_verifier }, data)
/** Undefined when the redemption is good. */
function refusalOfRedemption(
  requirement: PkceRequirement,
  client: typeof phone,
  values: Values,
  authorizationData: Json | undefined,
) {
  const request = { client, parameters: parametersOf(values), authorizationData, ...redemption }
  try {
    return void pkce(requirement).atTokenRequest?.(request)
  } catch (refusal) {
    if (refusal instanceof OAuthError) return refusal
    throw refusal
  }
}

describe('pkce: the authorization request', () => {
  it('keeps the challenge of RFC 7636 appendix B', () => {
    expect(requested(good)).toBe(vector.challenge)
  })

  it('keeps the challenge of any client that uses it', () => {
    for (const requirement of ['public', 'all', 'none'] as const)
      for (const client of [phone, printer])
        expect(requested(good, requirement, client)).toBe(vector.challenge)
  })

  it.each<[PkceRequirement, string, typeof phone]>([
    ['public', 'a public client', phone],
    ['all', 'a public client', phone],
    ['all', 'a confidential client', printer],
  ])('required of %s: refuses %s without a challenge [pkce-4]', (requirement, _who, client) => {
    for (const values of [{}, { code_challenge: '' }])
      expect(thrownBy(() => requested(values, requirement, client))).toMatchObject({
        code: 'invalid_request',
        reason: 'pkce_challenge_missing',
      })
  })

  it.each<[PkceRequirement, string, typeof phone]>([
    ['public', 'a confidential client', printer],
    ['none', 'a public client', phone],
    ['none', 'a confidential client', printer],
  ])('required of %s: takes %s without a challenge, and keeps nothing', (requirement, _who, client) => {
    for (const values of [{}, { code_challenge: '' }])
      expect(requested(values, requirement, client)).toBeUndefined()
  })

  it('asks nothing of an answer without a code, and keeps nothing', () => {
    const request = { ...way, client: phone, responseType: { name: 'token', grantTypes: ['implicit'] } }
    for (const values of [{}, good, { code_challenge: 'short' }])
      expect(
        pkce('all').atAuthorizationRequest?.({ ...request, parameters: parametersOf(values) }),
      ).toBeUndefined()
  })

  it('refuses a method without a challenge, of every client: something was lost [pkce-5]', () => {
    for (const requirement of ['public', 'all', 'none'] as const)
      expect(
        thrownBy(() => requested({ code_challenge_method: 'S256' }, requirement, printer)),
      ).toHaveProperty('reason', 'pkce_challenge_missing')
  })

  it.each([undefined, '', 'plain', 's256', 'S512', 'S256 '])(
    'refuses the method %j: S256 only [pkce-6]',
    (method) => {
      for (const requirement of ['public', 'none'] as const)
        expect(
          thrownBy(() => requested({ ...good, code_challenge_method: method }, requirement)),
        ).toMatchObject({
          code: 'invalid_request',
          reason: 'pkce_method_unsupported',
        })
    },
  )

  it.each([
    ['a letter less', vector.challenge.slice(1)],
    ['a letter more', `${vector.challenge}A`],
    ['padding', `${vector.challenge}=`],
    ['letters of plain base64', vector.challenge.replace('-', '+')],
    ['a letter that is not ASCII', vector.challenge.replace('E', 'É')],
    ['a line break at its end', `${vector.challenge}\n`],
    ['hexadecimal', createHash('sha256').update(vector.verifier).digest('hex')],
  ])('refuses a challenge with %s [pkce-8]', (_what, code_challenge) => {
    expect(thrownBy(() => requested({ ...good, code_challenge }))).toMatchObject({
      code: 'invalid_request',
      reason: 'pkce_challenge_malformed',
    })
  })

  it.each(['code_challenge', 'code_challenge_method'])('refuses a repeated %s [pkce-9]', (name) => {
    const values = { ...good, [name]: [vector.challenge, vector.challenge] }
    expect(thrownBy(() => requested(values))).toHaveProperty('reason', 'parameter_malformed')
  })

  it('names the parameters that it reads, so that repeated ones refuse the request', () => {
    expect(pkce('public')).toMatchObject({
      name: 'pkce',
      authorizationParameters: ['code_challenge', 'code_challenge_method'],
      tokenParameters: ['code_verifier'],
    })
  })
})

describe('pkce: the redemption', () => {
  it('takes the verifier of RFC 7636 appendix B', () => {
    expect(redeem(vector.verifier)).toBeUndefined()
  })

  it('takes any verifier that answers its challenge, and no other', () => {
    const verifier = fc.stringMatching(/^[A-Za-z0-9\-._~]{43,128}$/)
    fc.assert(
      fc.property(verifier, verifier, (one, other) => {
        fc.pre(one !== other)
        const challenge = createHash('sha256').update(one).digest('base64url')
        expect(redeem(one, challenge)).toBeUndefined()
        expect(redeem(other, challenge)).toHaveProperty('reason', 'pkce_verifier_wrong')
      }),
    )
  })

  it.each([
    ['is missing', undefined, 'pkce_verifier_missing'],
    ['is empty', '', 'pkce_verifier_missing'],
    ['has 42 letters', 'a'.repeat(42), 'pkce_verifier_malformed'],
    ['has 129 letters', 'a'.repeat(129), 'pkce_verifier_malformed'],
    ['has a letter that is reserved', `${vector.verifier}+`, 'pkce_verifier_malformed'],
    ['ends in a line break', `${vector.verifier}\n`, 'pkce_verifier_malformed'],
    ['is another one', 'a'.repeat(43), 'pkce_verifier_wrong'],
    ['is another one of 128 letters', 'a'.repeat(128), 'pkce_verifier_wrong'],
    ['differs in case only', vector.verifier.toUpperCase(), 'pkce_verifier_wrong'],
    ['is the challenge, as in plain', vector.challenge, 'pkce_verifier_wrong'],
  ])('refuses a verifier that %s [pkce-7]', (_what, verifier, reason) => {
    expect(redeem(verifier)).toMatchObject({ code: 'invalid_grant', reason })
  })

  it('takes a redemption without a verifier when there was no challenge', () => {
    expect(refusalOfRedemption('all', printer, {}, undefined)).toBeUndefined()
  })

  it('refuses a verifier when there was no challenge: the sign of a downgrade (RFC 9700 4.8.2)', () => {
    const values = { code_verifier: vector.verifier }
    for (const requirement of ['public', 'all', 'none'] as const)
      expect(refusalOfRedemption(requirement, printer, values, undefined)).toMatchObject({
        code: 'invalid_grant',
        reason: 'pkce_verifier_unexpected',
      })
  })

  it.each([[null], [true], [7], [[vector.challenge]], [{ challenge: vector.challenge }], [''], ['short']])(
    'refuses when what was kept is no challenge but %j',
    (data) => {
      expect(redeem(vector.verifier, data)).toHaveProperty('reason', 'pkce_verifier_wrong')
    },
  )

  it('gives every refusal one description [pkce-11]', () => {
    const refusals = [redeem(undefined), redeem('short'), redeem('a'.repeat(43))]
    expect(new Set(refusals.map((error) => error?.description)).size).toBe(1)
  })
})
