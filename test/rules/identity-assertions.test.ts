import { ConfigurationError, type AuthorizationServerOptions } from '../../lib/index'
import { jwtBearer } from '../../lib/paths/grants'
import { claimsAt, hub, hubOnCurve, issuers, jwt, partner, type Signer } from '../support/assertions/jwt'
import { application } from '../support/flows/application'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import type { Fields } from '../support/flows/flow'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { grantTypeOf } from '../support/grant-type-of'
import { withPlugins } from '../support/with-plug-ins'

const people = new Map([['alice@issuer.example', 'alice']])
const options = {
  resourceOwner: ({ subject }: { readonly subject: string }) => people.get(subject),
}
const identityAssertions = jwtBearer({ identityProviders: issuers, ...options })
const grant_type = grantTypeOf(identityAssertions)

const agent = bent(photoPrint, { grant_types: ['authorization_code', 'refresh_token', grant_type] })
const other = bent(nightlyReport, { grant_types: [grant_type], redirect_uris: [] })
const app = bent(photoBook, { grant_types: ['authorization_code', grant_type] })
const clients = [agent.registration, other.registration, app.registration]

const open = (stage: SetStage, bend: Partial<AuthorizationServerOptions> = {}) =>
  stage({ clients, ...bend, plugins: withPlugins([identityAssertions], bend.plugins) })

interface Bend {
  readonly claims?: object
  /** Claims that are so many seconds from now. */
  readonly times?: Readonly<Record<string, number>>
  readonly header?: object
  readonly by?: Signer
}

/** An assertion as the identity provider of the enterprise makes it for the agent, with something bent. */
function assertionAt(
  { clock }: Pick<Stage, 'clock'>,
  { claims, times = {}, header, by = hub }: Bend = {},
): string {
  const now = Math.floor(clock.read() / 1000)
  const ahead = Object.fromEntries(Object.entries(times).map(([name, seconds]) => [name, now + seconds]))
  const said = { ...claimsAt(now), client_id: 'photo-print', scope: 'photos:read photos:print' }
  return jwt(by, { ...said, ...claims, ...ahead }, { typ: 'oauth-id-jag+jwt', ...header })
}

const ask = ({ flow }: Pick<Stage, 'flow'>, assertion: string, fields: Fields = {}, client = agent) =>
  flow.request(client, { grant_type, assertion, ...fields })

describeOnStores('An identity assertion', (stage) => {
  test('[MCP-43] gives its client one access token for its person, and no refresh token', async () => {
    const set = open(stage)
    const { accessToken, refreshToken, scope } = tokensOf(await ask(set, assertionAt(set)))
    expect({ refreshToken, scope }).toEqual({ refreshToken: '', scope: 'photos:read photos:print' })
    expect((await set.flow.photos(accessToken)).body).toMatchObject({
      subject: 'alice',
      clientId: 'photo-print',
    })
  })

  test.each<[title: string, scope: string, asserted: unknown, asked: string | undefined]>([
    ['what is asked and asserted', 'photos:print', 'photos:read photos:print', 'photos:print'],
    ['nothing that the client may not have', 'photos:read', 'reports:write photos:read chat', undefined],
    ['the default, if the assertion names none', 'photos:print', undefined, undefined],
    ['of the default what is asked', 'photos:print', undefined, 'photos:read photos:print'],
  ])('[MCP-44] gives as scope %s', async (_, scope, asserted, asked) => {
    const set = open(stage, { defaultScope: 'photos:print' })
    const assertion = assertionAt(set, { claims: { scope: asserted } })
    expect(tokensOf(await ask(set, assertion, { scope: asked })).scope).toBe(scope)
  })

  test('[MCP-47] gives no token without a scope', async () => {
    const set = open(stage)
    for (const [outcome, asserted, asked] of [
      ['400 invalid_grant scope_not_asserted', 'photos:read', 'photos:print'],
      ['400 invalid_grant scope_not_asserted', 'chat', undefined],
      ['400 invalid_grant scope_not_asserted', undefined, undefined],
      ['400 invalid_grant scope_not_asserted', undefined, 'photos:read'],
      ['400 invalid_scope scope_not_allowed', 'reports:write', 'reports:write'],
      ['400 invalid_scope scope_malformed', 'photos:read', 'photos:read  photos:print'],
    ] as const) {
      const assertion = assertionAt(set, { claims: { scope: asserted } })
      const refusal = refusalOf(await ask(set, assertion, { scope: asked }))
      expect(`${refusal} ${set.failures.at(-1)?.reason}`).toBe(outcome)
    }
  })

  test('[MCP-39, MCP-40, MCP-46, MCP-48] is refused for each flaw, with its reason, and nothing tells the assertion', async () => {
    const set = open(stage)
    const details = [{ type: 'payment', amount: '1' }]
    const flaws: readonly (readonly [reason: string, bend: Bend])[] = [
      ['header_refused', { header: { typ: 'JWT' } }],
      ['header_refused', { header: { typ: ['oauth-id-jag+jwt'] } }],
      ['header_refused', { header: { typ: 'client-authentication+jwt' } }],
      ['signature_wrong', { by: partner, header: { kid: hub.kid, alg: 'RS256' } }],
      ['signature_wrong', { by: partner, header: { kid: hubOnCurve.kid, jwk: partner.jwk } }],
      ['algorithm_refused', { header: { alg: 'none' } }],
      ['issuer_unknown', { claims: { iss: 'https://nobody.example' } }],
      ['audience_wrong', { claims: { aud: ['http://localhost', 'https://other.example'] } }],
      // As an ID token.
      ['audience_wrong', { claims: { aud: 'photo-print' } }],
      ['of_another_client', { claims: { client_id: 'nightly-report' } }],
      ['incomplete', { claims: { client_id: undefined } }],
      ['incomplete', { claims: { jti: undefined } }],
      ['incomplete', { claims: { iat: undefined } }],
      ['incomplete', { claims: { scope: ['photos:read'] } }],
      ['incomplete', { claims: { scope: '' } }],
      ['bound_to_key', { claims: { cnf: { jkt: 'x' } } }],
      ['details_unsupported', { claims: { authorization_details: details } }],
      ['subject_refused', { claims: { sub: 'mallory' } }],
      ['expired', { times: { exp: -30 } }],
      ['too_long_lived', { times: { exp: 3601 } }],
      ['not_yet_valid', { times: { iat: 31 } }],
      ['malformed', { claims: { more: 'x'.repeat(20_000) } }],
    ]
    for (const [reason, bend] of flaws) {
      const assertion = assertionAt(set, bend)
      const response = await ask(set, assertion)
      expect([bend, refusalOf(response)]).toEqual([bend, '400 invalid_grant'])
      expect(set.failures.at(-1)).toMatchObject({ reason: `assertion_${reason}`, cause: undefined })
      const said = JSON.stringify([set.failures, response.text, response.headers])
      for (const part of assertion.split('.')) expect(said).not.toContain(part)
    }
  })

  test('[MCP-41, MCP-45] is of no use to another client, who does not use it up, and works once [jwt-20]', async () => {
    const set = open(stage)
    const assertion = assertionAt(set)
    expect(refusalOf(await ask(set, assertion, {}, other))).toBe('400 invalid_grant')
    expect(refusalOf(await ask(set, assertion, {}, { ...agent, secret: 'wrong' }))).toBe('401 invalid_client')
    tokensOf(await ask(set, assertion))
    expect(refusalOf(await ask(set, assertion))).toBe('400 invalid_grant')
  })

  test('is of no use to a public client, even if it names that client [jwt-22]', async () => {
    const set = open(stage)
    const assertion = assertionAt(set, { claims: { client_id: 'photo-book' } })
    expect(refusalOf(await ask(set, assertion, {}, app))).toBe('400 unauthorized_client')
    expect(set.failures).toMatchObject([{ reason: 'client_not_confidential' }])
  })

  test('of this server itself is no grant, even if the server trusts its own keys', async () => {
    const own = { ...hub, issuer: 'http://localhost' }
    const grantTypes = [
      jwtBearer({
        identityProviders: [{ issuer: own.issuer, jwks: { keys: [own.jwk] } }],
        resourceOwner: () => 'alice',
      }),
    ]
    const set = open(stage, { plugins: [...grantTypes] })
    expect(refusalOf(await ask(set, assertionAt(set, { claims: { iss: own.issuer } })))).toBe(
      '400 invalid_grant',
    )
    expect(set.failures).toMatchObject([{ reason: 'assertion_issuer_unknown' }])
  })

  test('for a resource is refused where the server names no resources', async () => {
    const set = open(stage)
    const assertion = assertionAt(set, { claims: { resource: 'https://api.example/mcp' } })
    expect(refusalOf(await ask(set, assertion))).toBe('400 invalid_grant')
    expect(set.failures).toMatchObject([{ reason: 'assertion_resource_unknown' }])
  })

  test('is none of an issuer of plain assertions, and a plain assertion is none of an identity provider', async () => {
    const both = jwtBearer({
      ...options,
      identityProviders: issuers.slice(0, 1),
      issuers: issuers.slice(1),
    })
    const set = open(stage, { plugins: [both] })
    const byPartner = { by: partner, claims: { iss: partner.issuer } }
    const plain = { header: { typ: undefined } }
    const outcomes = []
    for (const bend of [{}, plain, byPartner, { ...byPartner, ...plain }]) {
      const response = await ask(set, assertionAt(set, bend), { scope: 'photos:read' })
      outcomes.push(
        response.status === 200 ? 'good' : `${refusalOf(response)} ${set.failures.at(-1)?.reason}`,
      )
    }
    const refusal = '400 invalid_grant assertion_issuer_unknown'
    expect(outcomes).toEqual(['good', refusal, refusal, 'good'])
  })
})

describeOnStores('An identity assertion for resources', (stage) => {
  const photos = 'https://api.example/photos'
  const reports = 'https://api.example/reports'
  const printer = 'https://Print.example'
  const asker = bent(agent, { may_introspect: true, scope: 'photos:read photos:print reports:write' })

  const openApi = () =>
    open(stage, {
      clients: [asker.registration],
      resources: {
        [photos]: { scopes: ['photos:read', 'photos:print'], accessTokenLifetime: 60 },
        [reports]: { scopes: ['reports:write'] },
        [printer]: { scopes: ['photos:print'] },
      },
      defaultResource: photos,
    })

  const audienceOf = async (set: Stage, accessToken: string) =>
    (await set.flow.introspect(asker, accessToken)).body.aud

  test.each<[title: string, claim: unknown, audience: readonly string[], scope: string]>([
    ['one', photos, [photos], 'photos:read photos:print'],
    [
      'one that is written in another way',
      'HTTPS://api.example/photos',
      [photos],
      'photos:read photos:print',
    ],
    ['one under the name of the option', 'https://print.example/', [printer], 'photos:print'],
    ['a list of one', [reports], [reports], 'reports:write'],
    ['several', [reports, photos], [photos, reports], 'photos:read photos:print reports:write'],
  ])('[MCP-43] binds the token to %s', async (_, resource, audience, scope) => {
    const set = openApi()
    const claims = { resource, scope: 'photos:read photos:print reports:write' }
    const tokens = tokensOf(await ask(set, assertionAt(set, { claims }), {}, asker))
    expect(await audienceOf(set, tokens.accessToken)).toEqual(audience)
    expect(tokens.scope.split(' ').toSorted()).toEqual(scope.split(' ').toSorted())
    expect((await set.flow.photos(tokens.accessToken)).status).toBe(audience.includes(photos) ? 200 : 401)
  })

  test('lets the request narrow them, and never leave them [jwt-21]', async () => {
    const set = openApi()
    const claims = { resource: [photos, printer], scope: 'photos:print' }
    const narrowed = tokensOf(await ask(set, assertionAt(set, { claims }), { resource: printer }, asker))
    expect(await audienceOf(set, narrowed.accessToken)).toEqual([printer])
    const assertion = assertionAt(set, { claims: { resource: printer, scope: 'photos:print' } })
    for (const resource of [photos, 'https://other.example/', `${printer}/#x`])
      expect(refusalOf(await ask(set, assertion, { resource }, asker))).toBe('400 invalid_target')
    expect(tokensOf(await ask(set, assertion, {}, asker)).expiresIn).toBe(3600)
  })

  test('[MCP-42] is refused for a resource that is unknown or malformed', async () => {
    const set = openApi()
    const long = Array.from({ length: 9 }, () => photos)
    const flaws: readonly (readonly [reason: string, claims: readonly unknown[]])[] = [
      [
        'resource_unknown',
        [[photos, 'https://other.example/'], `${photos}/more`, `${photos}#x`, '__proto__'],
      ],
      ['incomplete', [undefined, '', [], { uri: photos }, [[photos]], long]],
    ]
    for (const [reason, claims] of flaws)
      for (const resource of claims) {
        const response = await ask(set, assertionAt(set, { claims: { resource } }), {}, asker)
        expect([resource, refusalOf(response)]).toEqual([resource, '400 invalid_grant'])
        expect(set.failures.at(-1)).toMatchObject({ reason: `assertion_${reason}` })
      }
  })

  test('gives no scope that the resource does not have', async () => {
    const set = openApi()
    const assertion = assertionAt(set, { claims: { resource: reports, scope: 'photos:read reports:write' } })
    expect(refusalOf(await ask(set, assertion, { scope: 'photos:read' }, asker))).toBe('400 invalid_scope')
    expect(set.failures).toMatchObject([{ reason: 'scope_of_another_resource' }])
    expect(tokensOf(await ask(set, assertion, {}, asker)).scope).toBe('reports:write')
  })

  test('[MCP-47] is refused if its resource has none of its scopes', async () => {
    const set = openApi()
    const assertion = assertionAt(set, { claims: { resource: reports, scope: 'photos:read' } })
    expect(refusalOf(await ask(set, assertion, { scope: 'photos:read' }, asker))).toBe('400 invalid_grant')
    expect(set.failures).toMatchObject([{ reason: 'scope_not_asserted' }])
  })
})

describe('The profile id-jag', () => {
  test('[MCP-38] is in the metadata', async () => {
    const { flow } = application({ plugins: [identityAssertions] })
    expect((await flow.open('/.well-known/oauth-authorization-server')).body).toMatchObject({
      authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    })
  })

  test.each<[string, object]>([
    ['audience is for issuers', { audience: 'http://localhost' }],
    ['issuers or identityProviders must', { identityProviders: [] }],
    ['identityProviders[0].repeatable is not', { identityProviders: [{ ...issuers[0], repeatable: true }] }],
    ['resourceOwner is missing', { resourceOwner: undefined }],
    ['scope is not known', { scope: 'x' }],
  ])('reports a mistake in its options: %s', (message, bend) => {
    const given = { identityProviders: issuers, ...options, ...bend }
    const make = () => Reflect.apply(jwtBearer, undefined, [given])
    expect(make).toThrow(ConfigurationError)
    expect(make).toThrow(message)
  })

  test('cannot stand in a second jwtBearer(), because both have one name', () => {
    const make = () => application({ plugins: [identityAssertions, jwtBearer({ issuers, ...options })] })
    expect(make).toThrow('plugins[1].name is "jwt-bearer", which another')
  })
})
