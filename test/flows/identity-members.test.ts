import { createHash } from 'node:crypto'
import type { AuthorizationServerOptions, ClientRegistration } from 'express-authorization-server'
import { createAuthorizationServer } from 'express-authorization-server'
import { deviceAuthorization } from 'express-authorization-server/devices'
import { metadataDocuments } from 'express-authorization-server/registration'
import { openIdConnect } from 'express-authorization-server/openid-connect'
import { privateKeyJwt, signingKeys } from 'express-authorization-server/jwt'
import { type ClientApplication, bent } from '../support/flows/clients'
import { DocumentOrigin } from '../support/flows/document-origin'
import { authorizationRequest } from '../support/flows/flow'
import {
  claimsIn,
  identityKeys,
  identityStage,
  relyingParty,
  withIdentity,
} from '../support/flows/identity-stage'
import { keySecret, partOf } from '../support/flows/jwt-tokens'
import { loginOf } from '../support/flows/login-stage'
import { outcomeOf } from '../support/flows/outcome'
import { codeOf } from '../support/flows/redirection'
import { ofClient, redeem } from '../support/flows/registered-client'
import { describeRegistration, notesApp } from '../support/flows/registering'
import { describeOnStores } from '../support/flows/stores-of-run'
import { mistakesOf } from '../support/mistakes-of'
import { canonicalOptions } from '../support/flows/application'

const scope = 'openid'
const pairwise = { secret: 'k'.repeat(32) }

describeOnStores('The registration of a client says', (stage) => {
  const open = (
    client: ClientApplication,
    ...[bend, identity]: Parameters<ReturnType<typeof identityStage>>
  ) => identityStage(stage)({ clients: [client.registration], ...bend }, identity)

  test.each(['RS256', 'ES256', 'EdDSA'] as const)(
    'that its ID tokens are signed with %s, and at_hash fits [OpenID Connect Core 3.1.3.6]',
    async (algorithm) => {
      const client = bent(relyingParty, { id_token_signed_response_alg: algorithm })
      const keys = signingKeys({ secrets: [keySecret], algorithms: ['ES256', 'RS256', 'EdDSA'] })
      const plugins = [keys, openIdConnect({ keys, algorithm: 'ES256' })]
      const set = open(client, { plugins })
      const { body } = await set.flow.redeem(client, await set.flow.approve(client, { scope }))
      expect(partOf(body.id_token, 0)['alg']).toBe(algorithm)
      const digest = createHash(algorithm === 'EdDSA' ? 'sha512' : 'sha256')
        .update(body.access_token)
        .digest()
      expect(claimsIn(body.id_token)['at_hash']).toBe(
        digest.subarray(0, digest.length / 2).toString('base64url'),
      )
      const { body: metadata } = await set.flow.open('/.well-known/openid-configuration')
      expect(metadata.id_token_signing_alg_values_supported).toEqual(['ES256', 'RS256', 'EdDSA'])
      const hinted = { ...authorizationRequest(client), scope, id_token_hint: body.id_token }
      expect(outcomeOf(await set.flow.ask(hinted, 'alice'))).toBe('question')
    },
  )

  test('how old a login may be, unless the request says it [OpenID Connect Dynamic Client Registration 2]', async () => {
    const client = bent(relyingParty, { default_max_age: 300 })
    const set = open(client)
    const ask = (bend: Record<string, string>) =>
      set.flow.ask({ ...authorizationRequest(client), scope, ...bend }, 'alice')
    // The owner logged in at 1 700 000 000, long before.
    expect(loginOf(await ask({})).prompt).toBe('login')
    expect(outcomeOf(await ask({ prompt: 'none' }))).toBe('redirect login_required')
    expect(outcomeOf(await ask({ max_age: '999999999' }))).toBe('question')
    const other = bent(relyingParty, { default_max_age: 300_000_000 })
    const patient = open(other)
    const asked = { ...authorizationRequest(other), scope }
    expect(outcomeOf(await patient.flow.ask(asked, 'alice'))).toBe('question')
    loginOf(await patient.flow.ask({ ...asked, max_age: '1' }, 'alice'))
  })

  test('which login it prefers, unless the request says it', async () => {
    const client = bent(relyingParty, { default_acr_values: ['gold', 'silver'] })
    const set = open(client)
    const acrOf = async (bend: Record<string, string>) => {
      const response = await set.flow.ask({ ...authorizationRequest(client), scope, ...bend })
      return new URL(String(response.get('Location')), 'http://localhost').searchParams.get('acr_values')
    }
    expect([await acrOf({}), await acrOf({ acr_values: 'bronze' })]).toEqual(['gold silver', 'bronze'])
  })

  test('that it needs auth_time: the host that does not know it gets server_error with the cure', async () => {
    const client = bent(relyingParty, { require_auth_time: true })
    const set = open(client)
    const { body } = await set.flow.redeem(client, await set.flow.approve(client, { scope }))
    expect(claimsIn(body.id_token)['auth_time']).toBe(1_700_000_000)
    const unknowing = open(client, { resourceOwner: (request) => request.get('X-Owner') })
    const request = { ...authorizationRequest(client), scope }
    expect(outcomeOf(await unknowing.flow.ask(request, 'alice'))).toBe('redirect server_error')
    expect(unknowing.failures).toMatchObject([
      {
        code: 'server_error',
        reason: 'login_time_unknown',
        cause: { message: expect.stringContaining('resourceOwner must return authTime') },
      },
    ])
    expect(outcomeOf(await unknowing.flow.ask({ ...request, scope: 'photos:read' }, 'alice'))).toBe(
      'question',
    )
  })
})

describe('A registration of OpenID Connect', () => {
  const mistakesWith = (bend: object, identity: Parameters<typeof withIdentity>[1] = { pairwise }) => {
    const clients = [{ ...relyingParty.registration, ...bend }]
    const options = { ...canonicalOptions, ...withIdentity({}, identity), clients }
    return mistakesOf({ make: createAuthorizationServer }, options).map(
      ({ path, message }) => `${path} ${message}`,
    )
  }

  test('may have every member', () => {
    const every = {
      subject_type: 'pairwise',
      sector_identifier_uri: 'https://sector.example/uris.json',
      id_token_signed_response_alg: 'ES256',
      default_max_age: 0,
      require_auth_time: false,
      default_acr_values: ['urn:mace:incommon:iap:silver'],
      initiate_login_uri: 'https://client.example/login',
      backchannel_logout_uri: 'https://client.example/logout?tenant=1',
      backchannel_logout_session_required: false,
    } satisfies Partial<ClientRegistration>
    expect(mistakesWith(every)).toEqual([])
    expect(mistakesWith({ backchannel_logout_uri: 'http://127.0.0.1:3000/logout' })).toEqual([])
  })

  const wrong = [5, true, [], {}, 'x'.repeat(1_000_000), 'constructor']
  test.each<[string, readonly unknown[], RegExp]>([
    ['subject_type', wrong, /must be public or pairwise|must be JSON/],
    [
      'sector_identifier_uri',
      [...wrong, 'http://a.example/', 'https://a.example/#x', 'https://u@a.example/'],
      /must be an https URL|must be JSON/,
    ],
    ['initiate_login_uri', [...wrong, 'http://client.example/login'], /must be an https URL|must be JSON/],
    ['id_token_signed_response_alg', [...wrong, 'none', 'EdDSA'], /must be RS256 or ES256|must be JSON/],
    ['default_max_age', [...wrong.slice(1), -1, 0.5, '60', 1e12], /must be whole seconds|must be JSON/],
    [
      'require_auth_time',
      [...wrong, 'true'].filter((value) => value !== true),
      /must be true or false|must be JSON/,
    ],
    [
      'default_acr_values',
      [...wrong.filter((value) => !Array.isArray(value)), ['a b'], [''], ['x'.repeat(1025)], [7]],
      /must be a list of names|must be JSON/,
    ],
    [
      'backchannel_logout_uri',
      [...wrong, 'http://client.example/', `https://a.example/${'x'.repeat(2048)}`],
      /must be an https URL|must have at most 2048|must be JSON/,
    ],
    ['backchannel_logout_session_required', wrong, /must be false: a logout token|must be JSON/],
  ])('has a good %s, or the server does not start', (name, values, message) => {
    for (const value of values) {
      const mistakes = mistakesWith({ [name]: value })
      expect(mistakes).toEqual([
        expect.stringMatching(new RegExp(`^clients\\[0\\]\\.${name} (?:${message.source})`)),
      ])
    }
    expect(mistakesWith({ [name]: null })).toEqual([])
  })

  test.each(['sector_identifier_uri', 'initiate_login_uri', 'backchannel_logout_uri'])(
    'has at most 2048 characters in %s',
    (name) => {
      const mistakesAt = (length: number) =>
        mistakesWith({ [name]: 'https://a.example/'.padEnd(length, 'x') })
      expect(mistakesAt(2048)).toEqual([])
      expect(mistakesAt(2049)).toEqual([expect.stringContaining('at most 2048 characters')])
    },
  )

  test('is pairwise only with the option, and with one host', () => {
    const subject_type = 'pairwise'
    expect(mistakesWith({ subject_type }, {})).toEqual([
      'clients[0].subject_type must be public: openIdConnect() has no option pairwise here.',
    ])
    const needs =
      'clients[0].subject_type needs a sector_identifier_uri, because the redirection URIs do not name one host.'
    const several = ['https://a.example/callback', 'https://b.example/callback']
    for (const redirect_uris of [several, ['com.example.app:/callback'], ['http://127.0.0.1/callback']]) {
      const bend = { redirect_uris, client_type: 'public', client_secret_hashes: [], subject_type }
      expect(mistakesWith(bend)).toEqual([needs])
      expect(mistakesWith({ ...bend, sector_identifier_uri: 'https://a.example/uris.json' })).toEqual([])
    }
    const twoPorts = ['https://a.example/one', 'https://a.example:8443/two']
    expect(mistakesWith({ subject_type, redirect_uris: twoPorts })).toEqual([])
  })
})

describeRegistration('A client that registers itself with members of OpenID Connect', (stage) => {
  let origin: DocumentOrigin
  beforeEach(async () => {
    origin = await DocumentOrigin.start()
  })
  afterEach(() => origin.stop())

  const open = () => {
    const options = withIdentity({ clients: metadataDocuments({ ...origin.reach }) }, { pairwise })
    return stage({}, options)
  }
  const announcingStage = (bend: Partial<AuthorizationServerOptions> = {}) =>
    stage({}, withIdentity(bend, { backChannelLogout: true }))
  const app = { ...notesApp, scope }

  test.each([
    [undefined, 'RS256'],
    ['ES256', 'ES256'],
  ])(
    'with the algorithm %s gets ID tokens with %s, whatever the server prefers',
    async (chosen, algorithm) => {
      const keys = identityKeys()
      const plugins = [keys, openIdConnect({ keys, algorithm: 'ES256' })]
      const set = stage({}, { ...withIdentity({ plugins }), clients: [] })
      const client = await set.register({ ...app, id_token_signed_response_alg: chosen })
      expect(client.body.id_token_signed_response_alg).toBe(chosen)
      const page = await set.flow.ask({ ...ofClient(client), scope: 'openid' }, 'alice')
      const { body } = await redeem(set, client, codeOf(await set.flow.decide(page, 'approve', 'alice')))
      expect(partOf(body.id_token, 0)['alg']).toBe(algorithm)
    },
  )

  test('gets what it has registered, and reads why it is refused', async () => {
    const set = open()
    const members = { subject_type: 'pairwise', id_token_signed_response_alg: 'ES256', default_max_age: 60 }
    expect((await set.register({ ...app, ...members })).body).toMatchObject(members)
    const refused = await set.register({ ...app, id_token_signed_response_alg: 'none' })
    expect(refused.body).toEqual({
      error: 'invalid_client_metadata',
      error_description: 'id_token_signed_response_alg must be RS256 or ES256.',
    })
  })

  test('shows a file that lists every redirection URI, or is refused [OpenID Connect Dynamic Client Registration 5]', async () => {
    const set = open()
    const redirect_uris = ['https://notes.example/callback', 'https://other.example/callback']
    const sector_identifier_uri = origin.clientId.replace('client.json', 'uris.json')
    const listing = async (listed: unknown) => {
      origin.answer = (_request, response) =>
        void response.setHeader('Content-Type', 'application/json').end(JSON.stringify(listed))
      const metadata = { ...app, redirect_uris, subject_type: 'pairwise', sector_identifier_uri }
      return set.register(metadata)
    }
    const [first, second] = redirect_uris
    for (const lacking of [[first], { [String(first)]: 1 }, `${first} ${second}`]) {
      const { status, body } = await listing(lacking)
      expect([status, body.error_description]).toEqual([
        400,
        'sector_identifier_uri must lead to a JSON list that holds every redirection URI of the client.',
      ])
    }
    const good = await listing(['https://third.example/', second, first])
    expect([good.status, good.body.sector_identifier_uri]).toEqual([201, sector_identifier_uri])
  })

  test('shows a file of at most 64 KiB', async () => {
    const set = open()
    const sector_identifier_uri = origin.clientId.replace('client.json', 'uris.json')
    const outcomes: string[] = []
    for (const length of [64 * 1024, 64 * 1024 + 1]) {
      origin.answer = (_request, response) =>
        void response
          .setHeader('Content-Type', 'application/json')
          .end(JSON.stringify(app.redirect_uris).padEnd(length))
      const client = await set.register({ ...app, subject_type: 'pairwise', sector_identifier_uri })
      outcomes.push(`${client.status} ${client.body.error}`)
    }
    expect(outcomes).toEqual(['201 undefined', '400 invalid_client_metadata'])
  })

  test('joins no sector by a redirection URI to which its answers need not go', async () => {
    const device = 'urn:ietf:params:oauth:grant-type:device_code'
    const keys = identityKeys()
    const plugins = [
      keys,
      openIdConnect({ keys, pairwise }),
      deviceAuthorization({ secret: pairwise.secret }),
    ]
    const clients = metadataDocuments({ ...origin.reach })
    const set = stage(
      { grantTypes: ['authorization_code', 'refresh_token', device] },
      withIdentity({ plugins: [privateKeyJwt(), ...plugins], clients }),
    )
    const shop = { ...app, redirect_uris: ['https://shop.example/callback'], subject_type: 'pairwise' }
    const asking = { ...shop, grant_types: ['authorization_code', device] }
    expect((await set.register(shop)).status).toBe(201)
    expect((await set.register(asking)).body.error_description).toMatch(/^subject_type needs a sector_ident/)
    const sector_identifier_uri = origin.clientId.replace('client.json', 'uris.json')
    const jwks_uri = origin.clientId.replace('client.json', 'keys.json')
    const listing = async (listed: readonly string[], metadata: object) => {
      origin.answer = (_request, response) =>
        void response.setHeader('Content-Type', 'application/json').end(JSON.stringify(listed))
      const { status, body } = await set.register({ ...metadata, sector_identifier_uri })
      return body.error_description ?? status
    }
    const uris = shop.redirect_uris
    const unnamed =
      'sector_identifier_uri must lead to a JSON list that names the client by its client_id or by the jwks_uri of private_key_jwt, because a grant type of the client needs no redirection URI.'
    const proving = { ...asking, token_endpoint_auth_method: 'private_key_jwt', jwks_uri }
    expect(await listing(uris, shop)).toBe(201)
    expect(await listing(uris, asking)).toBe(unnamed)
    expect(
      await listing([], { ...asking, redirect_uris: [], grant_types: [device], response_types: [] }),
    ).toBe(unnamed)
    expect(await listing(uris, proving)).toBe(unnamed)
    expect(await listing([...uris, jwks_uri], { ...asking, jwks_uri: undefined })).toBe(unnamed)
    expect(await listing([...uris, jwks_uri], proving)).toBe(201)
  })

  test('reads in the answer which members the server keeps, and that an http initiate_login_uri is refused', async () => {
    const set = open()
    const initiate_login_uri = 'https://notes.example/login'
    const others = {
      userinfo_signed_response_alg: 'RS256',
      contacts: ['a@notes.example'],
      application_type: 'web',
    }
    const { body } = await set.register({ ...app, ...others, initiate_login_uri })
    expect(body).toMatchObject({ initiate_login_uri })
    for (const name of Object.keys(others)) expect(body).not.toHaveProperty(name)
    const refused = await set.register({ ...app, initiate_login_uri: 'http://notes.example/login' })
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_client_metadata'])
  })

  test('gets no members of a logout that the server does not announce, or not so', async () => {
    const backchannel_logout_uri = 'https://notes.example/logout'
    const asked = { ...app, backchannel_logout_uri, backchannel_logout_session_required: true }
    const { status, body } = await open().register(asked)
    expect(status).toBe(201)
    expect(Object.keys(body).filter((name) => name.startsWith('backchannel'))).toEqual([])
    const announcing = await announcingStage().register(asked)
    expect(announcing.body).toMatchObject({ backchannel_logout_uri })
    expect(announcing.body).not.toHaveProperty('backchannel_logout_session_required')
  })

  test('names no program on this machine for its logouts, unless the server is one in development', async () => {
    const backchannel_logout_uri = 'http://localhost:3000/logout'
    expect((await announcingStage().register({ ...app, backchannel_logout_uri })).body).toMatchObject({
      backchannel_logout_uri,
    })
    const deployed = announcingStage({ issuer: 'https://as.example' })
    deployed.app.set('trust proxy', 'loopback')
    const secure = { 'X-Forwarded-Proto': 'https' }
    const { body } = await deployed.register({ ...app, backchannel_logout_uri }, secure)
    expect(body.error_description).toBe('backchannel_logout_uri must be an https URL.')
  })

  test('is asked for no member where the server has no OpenID Connect', async () => {
    const { body, status } = await stage().register({ ...notesApp, subject_type: 'pairwise' })
    expect(status).toBe(201)
    expect(body).not.toHaveProperty('subject_type')
  })
})
