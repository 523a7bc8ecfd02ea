import type { AuthorizationServerOptions } from '../../lib/index'
import { dpop } from '../../lib/paths/dpop'
import { jwtBearer, type JwtBearerOptions } from '../../lib/paths/grants'
import { claimsAt, hub, issuers, jwt, partner } from '../support/assertions/jwt'
import { bent, photoPrint } from '../support/flows/clients'
import { Prover } from '../support/flows/prover'
import { photosApi, reach, mountResources, threeResources } from '../support/flows/resources'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const [platform] = issuers.map((issuer) => ({ ...issuer, repeatable: true }))
const trusting = (bend: Partial<JwtBearerOptions> = {}) =>
  jwtBearer({
    issuers: [platform ?? [], issuers.slice(1)].flat(),
    resourceOwner: ({ subject }) => subject,
    ...bend,
  })
const accounts = new Map([['alice@issuer.example', 'alice']])
const grant_type = trusting().name
const desk = bent(photoPrint, { grant_types: ['authorization_code', 'refresh_token', grant_type] })

const open = (
  stage: SetStage,
  bend: Partial<JwtBearerOptions> = {},
  more: Partial<AuthorizationServerOptions> = {},
) => stage({ grantTypes: [trusting(bend)], clients: [desk.registration], ...more })

/** A token as a platform writes it into a file, without an id. */
function tokenAt(
  { clock }: Pick<Stage, 'clock'>,
  claims: object = {},
  times: Readonly<Record<string, number>> = {},
) {
  const now = Math.floor(clock.read() / 1000)
  const ahead = Object.fromEntries(Object.entries(times).map(([name, seconds]) => [name, now + seconds]))
  return jwt(hub, { ...claimsAt(now), jti: undefined, ...claims, ...ahead }, { typ: undefined })
}
const ask = ({ flow }: Pick<Stage, 'flow'>, assertion: string, more: object = {}) =>
  flow.request(desk, { grant_type, assertion, scope: 'photos:read', ...more })

describeOnStores('An assertion of a platform', (stage) => {
  test('may come again, and each access token ends with it or after five minutes, and no refresh token comes', async () => {
    const set = open(stage)
    const assertion = tokenAt(set, {}, { exp: 400 })
    const lives: number[] = []
    for (const seconds of [0, 0, 90, 250, 59]) {
      set.clock.advance(seconds)
      const tokens = tokensOf(await ask(set, assertion))
      expect(tokens.refreshToken).toBe('')
      lives.push(tokens.expiresIn)
    }
    expect(lives).toEqual([300, 300, 300, 60, 1])
    set.clock.advance(1)
    expect(refusalOf(await ask(set, assertion))).toBe('400 invalid_grant')
    expect(set.failures).toMatchObject([{ reason: 'assertion_expired' }])
  })

  test.each<[string, Partial<JwtBearerOptions>, number]>([
    ['an option', { repeatableTokenLifetime: 900 }, 900],
    ['the server', { repeatableTokenLifetime: 86_400 }, 3600],
  ])('gives tokens for as long as %s allows', async (_, bend, expected) => {
    const set = open(stage, bend)
    expect(tokensOf(await ask(set, tokenAt(set, {}, { exp: 86_430 }))).expiresIn).toBe(expected)
  })

  test.each<
    [
      reason: string,
      claims: object,
      times: Readonly<Record<string, number>>,
      bend?: Partial<JwtBearerOptions>,
    ]
  >([
    ['too_long_lived', {}, { exp: 86_431 }],
    ['not_yet_valid', {}, { nbf: 31 }],
    ['audience_wrong', { aud: 'https://kubernetes.default.svc' }, {}],
    ['subject_refused', { sub: '__proto__' }, {}, { resourceOwner: ({ subject }) => accounts.get(subject) }],
    ['incomplete', {}, {}, { issuers }],
    [
      'incomplete',
      { iss: partner.issuer },
      {},
      { issuers: [{ issuer: partner.issuer, jwks: { keys: [hub.jwk] } }] },
    ],
  ])('is refused (%s) with %j and %j', async (reason, claims, times, bend = {}) => {
    const set = open(stage, bend)
    expect(refusalOf(await ask(set, tokenAt(set, claims, times)))).toBe('400 invalid_grant')
    expect(set.failures).toMatchObject([{ reason: `assertion_${reason}` }])
  })

  test('is no word for another issuer, whose assertions stay good once', async () => {
    const set = open(stage)
    const now = Math.floor(set.clock.read() / 1000)
    const assertion = jwt(partner, claimsAt(now, partner))
    tokensOf(await ask(set, assertion))
    expect(refusalOf(await ask(set, assertion))).toBe('400 invalid_grant')
    expect(set.failures).toMatchObject([{ reason: 'assertion_replayed' }])
  })

  test('gives tokens that are bound to a key and to a resource, if the request proves the one and names the other', async () => {
    const set = stage(
      {
        grantTypes: [trusting()],
        clients: [desk.registration],
        resources: threeResources,
        plugins: [dpop({ baseUrl: 'http://localhost' })],
      },
      { mount: mountResources },
    )
    const assertion = tokenAt(set)
    const plain = tokensOf(await ask(set, assertion, { resource: photosApi }))
    expect((await reach(set, plain.accessToken)).passed).toEqual([photosApi])
    const prover = new Prover(set.clock.read)
    const fields = { grant_type, assertion, scope: 'photos:read', resource: photosApi }
    const bound = (await prover.tokens(set.flow, fields, desk)).body
    expect(bound).toMatchObject({ token_type: 'DPoP', expires_in: 300 })
    expect((await prover.call(set.flow, bound.access_token, '/api/photos')).status).toBe(200)
    expect((await reach(set, bound.access_token)).passed).toEqual([])
  })
})
