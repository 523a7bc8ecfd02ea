import jsonwebtoken from 'jsonwebtoken'
import { jwtBearer, type JwtBearerOptions } from '../../../../lib/index'
import { foreignJwts } from '../../../support/assertions/foreign-jwts'
import { forgedJwts } from '../../../support/assertions/forged-jwts'
import {
  audience,
  claimsAt,
  hub,
  hubOnCurve,
  issuers,
  jwt,
  partner,
  signer,
} from '../../../support/assertions/jwt'
import { context, noon } from '../../../support/authorization/issue-context'
import { parametersOf } from '../../../support/rooms/parameters'
import { refusalOf } from '../../../support/rooms/refused'
import { tokenRequest } from '../../../support/rooms/token-request'

const seen = jest.fn()
const canonical: JwtBearerOptions = {
  issuers,
  audience,
  resourceOwner: (assertion) => {
    seen(assertion)
    return assertion.subject
  },
}
beforeEach(() => seen.mockClear())

/** Presents assertions at noon to a grant type of its own. */
function desk(bend: Partial<JwtBearerOptions> = {}) {
  const grantType = jwtBearer({ ...canonical, ...bend })
  return (assertion: string, now = noon) =>
    grantType.handle({
      ...tokenRequest,
      parameters: parametersOf({ assertion, scope: 'photos.read' }),
      context: context({ now }),
    })
}

/** What an assertion uses up. */
async function useOf(assertion: string) {
  const proof = await desk()(assertion)
  return 'grant' in proof ? proof.grant.oneTimeUse : undefined
}

const accepted = { grant: { scope: ['photos.read'], refreshToken: false, extensionData: {} } }

describe('A JWT as an assertion', () => {
  test('that is sound proves a grant without a refresh token, for the owner that the host finds', async () => {
    const present = desk({ resourceOwner: ({ subject }, { client_id }) => `${subject} by ${client_id}` })
    expect(await present(jwt(hub, claimsAt(noon)))).toEqual({
      grant: {
        ...accepted.grant,
        subject: 'alice@issuer.example by photo-printer',
        // Its end, and the tolerance for the clock of this process and for that of another one.
        oneTimeUse: { key: expect.any(String), until: noon + 360, refusal: expect.any(Function) },
      },
    })
  })

  test('with a response_type is an authorization request, and no grant', async () => {
    const request = jwt(hub, { ...claimsAt(noon), response_type: 'code' })
    expect((await refusalOf(desk()(request))).reason).toBe('assertion_header_refused')
  })

  test('passes issuer, subject and every other claim to the host', async () => {
    const claims = { ...claimsAt(noon, partner), groups: ['staff'], nbf: noon }
    await desk()(jwt(partner, claims))
    const { iss: issuer, sub: subject, jti: id, exp: expiresAt, ...others } = claimsAt(noon, partner)
    expect(seen.mock.calls).toEqual([
      [
        {
          issuer,
          subject,
          id: Object(claims).jti,
          expiresAt,
          claims: { ...others, groups: ['staff'], nbf: noon },
        },
      ],
    ])
    expect(typeof id).toBe('string')
  })

  test.each([
    ['by another key of the set', () => jwt(hubOnCurve, claimsAt(noon))],
    ['without typ and kid', () => jwt(hub, claimsAt(noon), { typ: undefined, kid: undefined })],
    ['of the type application/JWT', () => jwt(hub, claimsAt(noon), { typ: 'application/JWT' })],
    [
      'with headers that only hint at keys',
      () => jwt(hub, claimsAt(noon), { jku: 'https://a.example', x5t: 'x' }),
    ],
    ['for several audiences', () => jwt(hub, { ...claimsAt(noon), aud: ['https://b.example', audience] })],
    ['that has expired within the tolerance', () => jwt(hub, { ...claimsAt(noon), exp: noon - 29 })],
    ['of the longest life', () => jwt(hub, { ...claimsAt(noon), exp: noon + 3600 })],
    ['that ends between two seconds', () => jwt(hub, { ...claimsAt(noon), exp: noon + 0.5 })],
    [
      'from a clock that is ahead within the tolerance',
      () => jwt(hub, { ...claimsAt(noon), iat: noon + 30, nbf: noon + 30 }),
    ],
    ['without iat', () => jwt(hub, { ...claimsAt(noon), iat: undefined })],
    // RFC 7519 4: a parser that takes the last of two is one of the two that are allowed.
    [
      'with a claim beside it named __proto__',
      () => jwt(hub, JSON.parse(`{"__proto__":{"a":1},${JSON.stringify(claimsAt(noon)).slice(1)}`)),
    ],
  ])('%s is taken', async (_, make) => {
    expect(await desk()(make())).toMatchObject(accepted)
  })

  test('is good once for its issuer, and says nothing about the like-named one of another', async () => {
    const { jti } = claimsAt(noon)
    const use = await useOf(jwt(hub, { ...claimsAt(noon), jti }))
    expect(use?.refusal()).toMatchObject({ code: 'invalid_grant', reason: 'assertion_replayed' })
    expect((await useOf(jwt(hubOnCurve, { ...claimsAt(noon), jti })))?.key).toBe(use?.key)
    expect((await useOf(jwt(partner, { ...claimsAt(noon, partner), jti })))?.key).not.toBe(use?.key)
  })

  test('without kid is refused where two keys fit', async () => {
    const second = signer(hub.issuer, 'hub-3', 'RS256')
    const present = desk({ issuers: [{ issuer: hub.issuer, jwks: { keys: [hub.jwk, second.jwk] } }] })
    expect(await refusalOf(present(jwt(hub, claimsAt(noon), { kid: undefined })))).toMatchObject({
      reason: 'assertion_key_unknown',
    })
    expect(await present(jwt(hub, claimsAt(noon)))).toMatchObject(accepted)
  })

  test('must be signed by an algorithm that the host allows', async () => {
    const present = desk({ algorithms: ['ES256'] })
    expect(await refusalOf(present(jwt(hub, claimsAt(noon))))).toMatchObject({
      reason: 'assertion_algorithm_refused',
    })
    expect(await present(jwt(hubOnCurve, claimsAt(noon)))).toMatchObject(accepted)
  })

  test('is held to the tolerance and the lifetime that the host chooses [jwt-17]', async () => {
    const present = desk({ clockTolerance: 0, maximumLifetime: 60 })
    const reasonOf = async (bend: object) =>
      (await refusalOf(present(jwt(hub, { ...claimsAt(noon), exp: noon + 60, ...bend })))).reason
    expect(await reasonOf({ exp: noon })).toBe('assertion_expired')
    expect(await reasonOf({ exp: noon + 61 })).toBe('assertion_too_long_lived')
    expect(await reasonOf({ iat: noon + 1 })).toBe('assertion_not_yet_valid')
    expect(await reasonOf({ nbf: noon + 1 })).toBe('assertion_not_yet_valid')
  })
})

describe('A forged JWT is refused and spends nothing:', () => {
  const claims = claimsAt(noon)
  const forgeries = forgedJwts(claims, noon)
  const present = desk()

  test.each(forgeries.map(({ title, reason, token }) => [title, reason, token] as const))(
    '%s',
    async (_, reason, token) => {
      expect(await refusalOf(present(token))).toEqual({ code: 'invalid_grant', reason })
      expect(seen).not.toHaveBeenCalled()
    },
  )

  test('and after all of them the valid one is still valid', async () => {
    expect(await present(jwt(hub, claims))).toMatchObject(accepted)
  })
})

describe('An assertion of a foreign make is taken:', () => {
  test.each(foreignJwts.map(({ title, jwk, assertion }) => [title, jwk, assertion] as const))(
    '%s',
    async (_, jwk, assertion) => {
      expect(
        await desk({ issuers: [{ issuer: hub.issuer, jwks: { keys: [jwk] } }] })(assertion),
      ).toMatchObject(accepted)
    },
  )

  test.each([hub, hubOnCurve])('jsonwebtoken, $alg', async ({ privateKey, alg, kid }) => {
    const token = jsonwebtoken.sign(claimsAt(noon), privateKey, { algorithm: alg, keyid: kid })
    expect(await desk()(token)).toMatchObject(accepted)
  })
})
