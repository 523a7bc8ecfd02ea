import { createHmac, randomUUID } from 'node:crypto'
import { compactVerify, importJWK } from 'jose'
import { openIdConnect } from '../../lib/paths/openid-connect'
import { privateKeyJwt } from '../../lib/paths/jwt'
import {
  pushedAuthorizationRequests,
  requestObjects,
  type RequestObjectOptions,
} from '../../lib/paths/pushed-requests'
import { encoded, json, jwt, signer } from '../support/assertions/jwt'
import type { Mount } from '../support/flows/application'
import { bent, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { errorPageOf } from '../support/flows/error-page'
import { identityKeys, withIdentity } from '../support/flows/identity-stage'
import { loginOf } from '../support/flows/login-stage'
import { objectStage, type ObjectStage, resultOf } from '../support/flows/object-stage'
import { outcomeOf } from '../support/flows/outcome'
import { redirectionOf } from '../support/flows/redirection'
import { threeResources, photosApi, printApi } from '../support/flows/resources'
import {
  bookKey,
  objectClaims,
  ownKey,
  requestObject,
  rsaKey,
  signingBook,
  signingPrint,
  strangeKey,
} from '../support/flows/request-object'
import { setStage } from '../support/flows/stage'

const issuer = 'http://localhost'

const redirectUri = 'https://print.example/callback'
const range = (length: number) => Array.from({ length }, (_, index) => [`p${index}`, 'x'] as const)
const byMac = (secret: string | Buffer) => (claims: object) => {
  const input = `${json({ alg: 'HS256', typ: 'oauth-authz-req+jwt', kid: '1' })}.${json(claims)}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

type Row = [
  title: string,
  result: string,
  claims?: object | ((now: number) => object),
  header?: Record<string, unknown>,
  by?: typeof ownKey,
]
const jku = 'https://evil.example/jwks.json'
const deep: unknown = JSON.parse('['.repeat(4000) + ']'.repeat(4000))

// A good object with some claims and header members changed, signed by a key of its client unless another is named.
test.each<Row>([
  ['[JAR-1] is the whole request', 'question'],
  ['[JAR-1] may be signed by RSA', 'question', {}, {}, rsaKey],
  ['[JAR-3] for another client_id', 'of_another_client', { client_id: 'photo-book' }],
  ['[JAR-3] without client_id', 'of_another_client', { client_id: undefined }],
  ['[JAR-3] with a list of client_id', 'of_another_client', { client_id: ['photo-print'] }],
  ['[JAR-3] with client_id in another letter case', 'of_another_client', { client_id: 'Photo-Print' }],
  ['[JAR-6] by the key of another client', 'signature_wrong', {}, {}, bookKey],
  ['[JAR-6] by no key of the client', 'signature_wrong', {}, {}, strangeKey],
  ['[JAR-6] by an unknown kid', 'key_unknown', {}, { kid: '9' }],
  ['[JAR-6] without kid, by no key of the client', 'signature_wrong', {}, { kid: undefined }, strangeKey],
  ['[JAR-6] by its own key in jwk', 'signature_wrong', {}, { jwk: strangeKey.jwk }, strangeKey],
  ['[JAR-6] by its own key at jku', 'signature_wrong', {}, { jku }, strangeKey],
  ['[JAR-6] by its own key at x5u', 'signature_wrong', {}, { x5u: jku }, strangeKey],
  ['[JAR-6] with a path as kid', 'key_unknown', {}, { kid: '../../../../dev/null' }],
  ['[JAR-6] with a kid of __proto__', 'key_unknown', {}, { kid: '__proto__' }],
  ['[JAR-6] with a critical extension', 'header_refused', {}, { crit: ['exp'], exp: 1 }],
  ['[JAR-6] with an unencoded payload', 'header_refused', {}, { b64: false }],
  ['[JAR-8] of type JWT', 'header_refused', {}, { typ: 'JWT' }],
  ['[JAR-8] without a type', 'header_refused', {}, { typ: undefined }],
  ['[JAR-8] of the type of an access token', 'header_refused', {}, { typ: 'at+jwt' }],
  ['[JAR-8] of a type that is no text', 'header_refused', {}, { typ: 1 }],
  ['[JAR-8] of its type in full', 'question', {}, { typ: 'application/OAuth-Authz-Req+JWT' }],
  ['[JAR-9] whose sub is its client', 'as_assertion', { sub: 'photo-print' }],
  ['[JAR-9] whose sub is another', 'question', { sub: 'alice' }],
  ['[JAR-10] with request inside', 'nested', { request: 'x' }],
  ['[JAR-10] with request_uri inside', 'nested', { request_uri: null }],
  ['[JAR-11] for a list with the issuer', 'question', { aud: ['https://other.example', issuer] }],
  ['[JAR-11] for the issuer with a slash', 'audience_wrong', { aud: `${issuer}/` }],
  ['[JAR-11] for the endpoint', 'audience_wrong', { aud: `${issuer}/authorize` }],
  ['[JAR-11] for an empty list', 'audience_wrong', { aud: [] }],
  ['[JAR-11] without an audience', 'incomplete', { aud: undefined }],
  ['[JAR-11] of another issuer', 'issuer_unknown', { iss: 'photo-book' }],
  ['[JAR-11] of the issuer __proto__', 'issuer_unknown', { iss: '__proto__' }],
  ['[JAR-11] without an issuer', 'incomplete', { iss: undefined }],
  ['[JAR-11] of a list of issuers', 'incomplete', { iss: ['photo-print'] }],
  ['[JAR-12] that ended', 'expired', (now: number) => ({ exp: now - 31 })],
  ['[JAR-12] that ended within the tolerance', 'question', (now: number) => ({ exp: now - 29 })],
  ['[JAR-12] that never ends', 'incomplete', { exp: undefined }],
  ['[JAR-12] that ends at a text', 'incomplete', (now: number) => ({ exp: String(now + 60) })],
  ['[JAR-12] that ends too late', 'too_long_lived', (now: number) => ({ exp: now + 3631 })],
  ['[JAR-12] that ends as late as it may', 'question', (now: number) => ({ exp: now + 3630 })],
  ['[JAR-12] that is not valid yet', 'not_yet_valid', (now: number) => ({ nbf: now + 31 })],
  ['[JAR-12] made in the future', 'not_yet_valid', (now: number) => ({ iat: now + 31 })],
  ['[JAR-12] made within the tolerance', 'question', (now: number) => ({ iat: now + 29, nbf: now + 29 })],
  ['[JAR-13] with a value of thousands of levels', 'claim_malformed', { deep }],
  ['[JAR-13] with too many parameters', 'page 400 invalid_request', Object.fromEntries(range(101))],
  ['[JAR-14] that leads to no registered URI', 'page 400 invalid_request', { redirect_uri: jku }],
])('%s: %s', async (_title, result, bend = {}, header = {}, by = ownKey) => {
  const stage = objectStage()
  const claims = stage.claims(typeof bend === 'function' ? bend(stage.now()) : bend)
  const page = await stage.bring(requestObject(claims, header, by), { redirect_uri: redirectUri })
  expect(resultOf(stage, page)).toBe(result)
})

test.each<[string, (claims: object) => string, string]>([
  ['[JAR-5] none, unsigned', (claims) => `${json({ alg: 'none' })}.${json(claims)}.`, 'malformed'],
  [
    '[JAR-5] none, with a signature',
    (claims) => `${json({ alg: 'none', typ: 'oauth-authz-req+jwt', kid: '1' })}.${json(claims)}.AA`,
    'algorithm_refused',
  ],
  ['[JAR-5] encryption alone', () => ['a', 'b', 'c', 'd', 'e'].map(encoded).join('.'), 'malformed'],
  ['[JAR-5] no JWT', () => 'https://print.example/', 'malformed'],
  ['[JAR-5] no JSON', () => jwt(ownKey, 'x', { typ: 'oauth-authz-req+jwt' }), 'malformed'],
  [
    '[JAR-7] HS256 by the public key',
    byMac(ownKey.publicKey.export({ type: 'spki', format: 'pem' })),
    'algorithm_refused',
  ],
  ['[JAR-7] HS256 by the JWK', byMac(JSON.stringify(ownKey.jwk)), 'algorithm_refused'],
  ['[JAR-7] HS256 by the secret of the client', byMac(String(signingPrint.secret)), 'algorithm_refused'],
])('%s is refused', async (_title, made, reason) => {
  const stage = objectStage()
  expect(resultOf(stage, await stage.bring(made(stage.claims())))).toBe(reason)
})

test.each<[string, RequestObjectOptions, object, string, typeof ownKey?]>([
  ['[JAR-6] of a client without keys', {}, { jwks: undefined }, 'without_keys'],
  ['[JAR-6] whose key is gone', {}, { jwks: { keys: [strangeKey.jwk] } }, 'signature_wrong'],
  [
    '[JAR-7] of an algorithm that the server does not take',
    { algorithms: ['ES256'] },
    {},
    'algorithm_refused',
    rsaKey,
  ],
  [
    '[JAR-7] of the algorithm of the registration',
    {},
    { request_object_signing_alg: 'RS256' },
    'question',
    rsaKey,
  ],
  ['[JAR-7] of another one', {}, { request_object_signing_alg: 'RS256' }, 'algorithm_refused'],
])('%s: %j and %j give %s', async (_title, objects, bend, result, by = ownKey) => {
  const stage = objectStage(objects, { clients: [{ ...signingPrint.registration, ...bend }] })
  expect(resultOf(stage, await stage.bring(requestObject(stage.claims(), {}, by)))).toBe(result)
})

describe('A request object', () => {
  test('[JAR-1] is the whole request, by GET and by POST, with the client_id beside it', async () => {
    const stage = objectStage()
    const page = await stage.bring(requestObject(stage.claims()))
    const { parameters } = redirectionOf(await stage.flow.decide(page, 'approve', 'alice'))
    expect(parameters).toEqual({ code: expect.any(String), state: 'af0ifjsldkj', iss: issuer })
    expect(outcomeOf(await stage.flow.redeem(signingPrint, String(parameters['code'])))).toBe('tokens')
    const form = { client_id: 'photo-print', request: requestObject(stage.claims()) }
    expect(outcomeOf(await stage.flow.submit('/authorize', form, 'alice'))).toBe('question')
    const crossSite = await stage.flow.submit('/authorize', form, undefined, {
      'Sec-Fetch-Site': 'cross-site',
    })
    const { pathname, searchParams } = new URL(String(crossSite.get('Location')), issuer)
    expect([crossSite.status, pathname, searchParams.get('request')]).toEqual([
      303,
      '/authorize',
      form.request,
    ])
  })

  test('[JAR-1] is good for a public client, too, and by RSA', async () => {
    const stage = objectStage()
    const request = requestObject(objectClaims(stage.now(), signingBook), {}, bookKey)
    expect(outcomeOf(await stage.flow.ask({ client_id: 'photo-book', request }, 'alice'))).toBe('question')
    expect(outcomeOf(await stage.bring(requestObject(stage.claims(), {}, rsaKey)))).toBe('question')
  })

  test('[JAR-2] counts alone: no other parameter of the query does', async () => {
    const stage = objectStage()
    const others = {
      state: 'other',
      redirect_uri: 'https://evil.example/',
      scope: 'photos:read',
      response_type: 'token',
      prompt: 'none',
      ui_locales: 'de',
      code_challenge: 'x',
      max_age: 'x',
    }
    const page = await stage.bring(requestObject(stage.claims()), others)
    expect(page.text).toContain('<html lang="en">')
    expect(page.text).toContain('Print your photos')
    const { uri, parameters } = redirectionOf(await stage.flow.decide(page, 'approve', 'alice'))
    expect(uri).toBe('https://print.example/callback')
    expect(parameters['state']).toBe('af0ifjsldkj')
    const denied = redirectionOf(await stage.bring(requestObject(stage.claims({ scope: 'x' })), others))
    expect([denied.uri, denied.parameters]).toEqual([
      'https://print.example/callback',
      expect.objectContaining({ error: 'invalid_scope', state: 'af0ifjsldkj' }),
    ])
  })

  test('[JAR-2] that lacks a parameter lacks it, whatever the query has', async () => {
    const stage = objectStage()
    const { redirect_uri: _uri, ...others } = authorizationRequest(signingPrint)
    const lacking = requestObject(stage.claims({ response_type: undefined, state: undefined }))
    const { parameters } = redirectionOf(await stage.bring(lacking, { ...others, redirect_uri: redirectUri }))
    expect(parameters).toEqual(expect.objectContaining({ error: 'invalid_request' }))
    expect(parameters).not.toHaveProperty('state')
  })

  test('[JAR-2] chooses the language of its pages', async () => {
    const stage = objectStage()
    const page = await stage.bring(requestObject(stage.claims({ ui_locales: 'de' })), { ui_locales: 'fr' })
    expect(page.text).toContain('<html lang="de">')
  })

  test('[JAR-4] stands alone: request and request_uri together are refused', async () => {
    const stage = objectStage()
    const both = await stage.bring(requestObject(stage.claims()), { request_uri: 'https://print.example/r' })
    expect(errorPageOf(both)).toBe('400 invalid_request')
    const twice = await stage.bring('a', { request: ['a', 'b'] })
    expect(errorPageOf(twice)).toBe('400 invalid_request')
  })

  test('[JAR-6] is good by the keys that a client publishes, and waits while they cannot be had', async () => {
    const state = { fails: false }
    const documents = {
      async fetch(url: string) {
        expect(url).toBe('https://print.example/jwks.json')
        if (state.fails) throw new Error('away')
        return { json: { keys: [ownKey.jwk] }, maximumAge: 1 }
      },
    }
    const registration = bent(photoPrint, { jwks_uri: 'https://print.example/jwks.json' }).registration
    const stage = objectStage({ documents }, { clients: [registration] })
    expect(outcomeOf(await stage.bring(requestObject(stage.claims())))).toBe('question')
    state.fails = true
    stage.clock.advance(60)
    const page = await stage.bring(requestObject(stage.claims()))
    expect([errorPageOf(page), stage.failures.at(-1)?.reason]).toEqual([
      '503 temporarily_unavailable',
      'client_keys_unavailable',
    ])
  })

  test('[JAR-6] is good by the keys of private_key_jwt', async () => {
    const credentials = { private_key_jwt: { keys: [ownKey.jwk] } }
    const registration = { ...bent(photoPrint, { credentials }).registration }
    const options = { clients: [registration], plugins: [privateKeyJwt()] }
    const stage = objectStage({}, options)
    expect(outcomeOf(await stage.bring(requestObject(stage.claims())))).toBe('question')
  })

  describe('of a client with openid', () => {
    const client = bent(signingPrint, { scope: 'openid photos:read' })
    const { clients: _, ...identity } = withIdentity({ clients: [client.registration] })
    const plugins = [...(identity.plugins ?? []), requestObjects(), pushedAuthorizationRequests()]
    const open = () => objectStage({}, { ...identity, clients: [client.registration], plugins })
    const untyped = (claims: object, typ?: unknown, by = ownKey) =>
      requestObject({ ...claims, nonce: 'n' }, { typ }, by)
    const claimsOf = (stage: ObjectStage, bend: object = {}) => stage.claims({ scope: 'openid', ...bend })

    // OpenID Connect Core 6.1 knows neither a type nor an end.
    test.each<[string, object, unknown, string]>([
      ['without a type', {}, undefined, 'question'],
      ['of type JWT', {}, 'JWT', 'question'],
      ['of another type', {}, 'at+jwt', 'header_refused'],
      ['for photos alone', { scope: 'photos:read' }, undefined, 'question'],
      ['of another client', { client_id: 'photo-book' }, undefined, 'of_another_client'],
      ['without client_id', { client_id: undefined }, undefined, 'of_another_client'],
      ['without response_type', { response_type: undefined }, undefined, 'as_assertion'],
      ['with a subject', { sub: 'alice' }, undefined, 'as_assertion'],
      ['with an empty subject', { sub: null }, undefined, 'as_assertion'],
      ['for another server', { aud: 'https://other.example' }, undefined, 'audience_wrong'],
      ['without an end', { exp: undefined, nbf: undefined, iat: undefined }, undefined, 'question'],
      ['that has ended', { exp: 1 }, undefined, 'expired'],
      ['of its own type without an end', { exp: undefined }, 'oauth-authz-req+jwt', 'incomplete'],
    ])('[JAR-8, JAR-9, JAR-12] %s: %j %s', async (_what, bend, typ, result) => {
      const stage = open()
      expect(resultOf(stage, await stage.bring(untyped(claimsOf(stage, bend), typ)))).toBe(result)
    })

    test('[JAR-5, JAR-6] without a type is signed by its client all the same', async () => {
      const stage = open()
      const forged = [
        untyped(claimsOf(stage), undefined, strangeKey),
        `${untyped(claimsOf(stage)).split('.').slice(0, 2).join('.')}.`,
        `${json({ alg: 'none' })}.${json(claimsOf(stage))}.AA`,
      ]
      const results: string[] = []
      for (const object of forged) results.push(resultOf(stage, await stage.bring(object)))
      expect(results).toEqual(['signature_wrong', 'malformed', 'algorithm_refused'])
    })

    test('[JAR-8] without a type may be pushed, and leads to an ID token', async () => {
      const stage = open()
      const pushed = await stage.flow.request(client, { request: untyped(claimsOf(stage)) }, '/par')
      const brought = { client_id: 'photo-print', request_uri: pushed.body.request_uri }
      const page = await stage.flow.ask(brought, 'alice')
      const { parameters } = redirectionOf(await stage.flow.decide(page, 'approve', 'alice'))
      const { body } = await stage.flow.redeem(client, String(parameters['code']))
      expect(body).toMatchObject({ id_token: expect.any(String), scope: 'openid' })
    })
  })

  describe('and a client assertion', () => {
    const both = {
      clients: [
        bent(photoPrint, {
          client_secret_hashes: [],
          credentials: { private_key_jwt: { keys: [ownKey.jwk] } },
          grant_types: ['authorization_code', 'client_credentials'],
        }).registration,
      ],
      plugins: [privateKeyJwt()],
    }
    const assertion = (now: number) => ({
      iss: 'photo-print',
      sub: 'photo-print',
      aud: issuer,
      jti: randomUUID(),
      exp: now + 60,
    })
    const authenticate = async ({ flow }: ObjectStage, client_assertion: string) =>
      outcomeOf(
        await flow.submit('/token', {
          grant_type: 'client_credentials',
          scope: 'photos:read',
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion,
        }),
      )

    test.each(['client-authentication+jwt', 'JWT'])(
      '[JAR-9] an assertion of type %s does not pass for a request object, even with all its claims',
      async (typ) => {
        const stage = objectStage({}, both)
        const { response_type: _, ...others } = stage.claims()
        const made = jwt(ownKey, { ...others, ...assertion(stage.now()) }, { typ })
        expect(await authenticate(stage, made)).toBe('tokens')
        expect(resultOf(stage, await stage.bring(made))).toBe('header_refused')
        const asking = jwt(ownKey, { ...stage.claims(), ...assertion(stage.now()) }, { typ })
        expect(await authenticate(stage, asking)).toBe('401 invalid_client')
        expect(stage.failures.at(-1)?.reason).toBe('client_assertion_header_refused')
      },
    )

    test('[JAR-9] a request object does not pass for an assertion, even with all its claims', async () => {
      const stage = objectStage({}, both)
      const made = requestObject({ ...stage.claims(), ...assertion(stage.now()), sub: 'photo-print' })
      expect(await authenticate(stage, made)).toBe('401 invalid_client')
      const { sub: _, ...good } = { ...stage.claims(), ...assertion(stage.now()) }
      expect(await authenticate(stage, requestObject(good))).toBe('400 invalid_request')
      expect(outcomeOf(await stage.bring(requestObject(good)))).toBe('question')
    })
  })

  test('[JAR-12] is judged when the server sent its owner to the login, who may return after its end', async () => {
    const stage = objectStage()
    const request = requestObject(stage.claims({ state: 'z' }))
    const { back } = loginOf(await stage.flow.ask({ client_id: 'photo-print', request }))
    stage.clock.advance(300)
    const page = await stage.flow.open(back, 'alice')
    expect(outcomeOf(page)).toBe('question')
    const { parameters } = redirectionOf(await stage.flow.decide(page, 'approve', 'alice'))
    expect(parameters).toMatchObject({ state: 'z', code: expect.any(String) })
  })

  test('[JAR-12] may say prompt=none and prompt=login', async () => {
    const stage = objectStage()
    const silent = requestObject(stage.claims({ prompt: 'none' }))
    expect(outcomeOf(await stage.flow.ask({ client_id: 'photo-print', request: silent }))).toBe(
      'redirect login_required',
    )
    const { back, prompt } = loginOf(await stage.bring(requestObject(stage.claims({ prompt: 'login' }))))
    expect(prompt).toBe('login')
    stage.clock.advance(120)
    expect(outcomeOf(await stage.flow.open(back, 'alice'))).not.toContain('invalid_request_object')
  })

  test('[JAR-12] that ended needs the login of this very request', async () => {
    const stage = objectStage()
    const first = requestObject(stage.claims({ state: '1' }))
    const { back } = loginOf(await stage.flow.ask({ client_id: 'photo-print', request: first }))
    const second = requestObject(stage.claims({ state: '2' }))
    stage.clock.advance(120)
    const moved = back.replace(first, second)
    expect(resultOf(stage, await stage.flow.open(moved, 'alice'))).toBe('expired')
    const bare = back.replace(/&login_returns=[^&]*/, '')
    expect(resultOf(stage, await stage.flow.open(bare, 'alice'))).toBe('expired')
    const ended = requestObject(stage.claims({ exp: stage.now() - 60 }))
    expect(resultOf(stage, await stage.flow.ask({ client_id: 'photo-print', request: ended }))).toBe(
      'expired',
    )
    stage.clock.advance(600)
    expect(resultOf(stage, await stage.flow.open(back, 'alice'))).toBe('expired')
  })

  test('[JAR-13] turns claims that are no texts into parameters: numbers, lists and JSON', async () => {
    const seen: string[] = []
    const watching = {
      name: 'watching',
      authorizationParameters: [],
      authorize: ({ parameters }: { parameters: { format(): string } }) => {
        seen.push(parameters.format())
        return undefined
      },
    }
    const withoutGuard = { mount: ((app, oauth) => void app.use(oauth.router())) satisfies Mount }
    const options = { plugins: [watching], resources: threeResources }
    const stage = objectStage({}, options, withoutGuard)
    const page = await stage.bring(
      requestObject(
        stage.claims({
          max_age: 86_400,
          resource: [photosApi, printApi],
          claims: { id_token: { acr: { values: ['a', 'b'] } }, userinfo: null },
          authorization_details: [{ type: 'x', count: 1 }],
          flag: true,
          nothing: null,
          empty: '',
          __proto__: 'x',
          jti: '1',
          constructor: 'c',
        }),
      ),
    )
    expect(outcomeOf(page)).toBe('login')
    const query = new URLSearchParams(seen[0])
    expect(Object.fromEntries(query)).toMatchObject({
      max_age: '86400',
      claims: '{"id_token":{"acr":{"values":["a","b"]}},"userinfo":null}',
      authorization_details: '[{"type":"x","count":1}]',
      flag: 'true',
      constructor: 'c',
    })
    expect(query.getAll('resource')).toEqual([photosApi, printApi])
    for (const name of ['iss', 'aud', 'iat', 'nbf', 'jti', 'nothing']) expect(query.has(name)).toBe(false)
  })

  test('[JAR-14] that is not valid leads nowhere, whatever redirection URI comes with it', async () => {
    const stage = objectStage()
    const query = { ...authorizationRequest(signingPrint), request: requestObject(stage.claims({ exp: 1 })) }
    const page = await stage.flow.ask(query, 'alice')
    expect(errorPageOf(page)).toBe('400 invalid_request_object')
    const program = await stage.flow.open(
      `/authorize?${new URLSearchParams(JSON.parse(JSON.stringify(query))).toString()}`,
      'alice',
      { Accept: 'application/json' },
    )
    expect([program.status, program.body.error]).toEqual([400, 'invalid_request_object'])
  })

  test.each([
    'https://print.example/request.jwt',
    'https://tfp.example.org/request.jwt/GkurKxf5T0Y',
    'urn:x',
  ])('[JAR-15] at a request_uri of its client is not fetched: %s', async (request_uri) => {
    const stage = objectStage({ documents: { fetch: () => Promise.reject(new Error('fetched')) } })
    const asked = { ...authorizationRequest(signingPrint), request_uri }
    const { parameters } = redirectionOf(await stage.flow.ask(asked, 'alice'))
    expect(parameters).toMatchObject({ error: 'request_uri_not_supported', state: 'af0ifjsldkj' })
  })

  test('[JAR-19] has at most 16 KiB, and a longer one is refused unread', async () => {
    const stage = objectStage()
    const objectOf = (filler: number) => requestObject(stage.claims({ filler: 'x'.repeat(filler) }))
    let filler = Math.floor(((16 * 1024 - objectOf(0).length) * 3) / 4) - 4
    while (objectOf(filler + 1).length <= 16 * 1024) filler += 1
    const fields = { client_id: 'photo-print', request: objectOf(filler + 1) }
    expect(resultOf(stage, await stage.flow.submit('/authorize', fields, 'alice'))).toBe('malformed')
    const good = { ...fields, request: objectOf(filler) }
    expect(outcomeOf(await stage.flow.submit('/authorize', good, 'alice'))).toBe('question')
    const huge = { ...fields, request: 'a'.repeat(1024 * 1024) }
    const page = await stage.flow.submit('/authorize', huge, 'alice')
    expect([page.status, stage.failures.at(-1)?.reason]).toEqual([400, 'body_too_large'])
  })

  test('[JAR-20] is good until its end, as often as a browser brings it, also with the same jti', async () => {
    const stage = objectStage()
    const request = requestObject(stage.claims({ jti: '1' }))
    for (const owner of ['alice', 'alice', 'bob']) {
      const page = await stage.bring(request, {}, owner)
      expect(outcomeOf(page)).toBe('question')
      // The link to another account would change the query, which counts for nothing.
      expect(page.text).not.toContain('Not you?')
    }
    stage.clock.advance(100)
    expect(resultOf(stage, await stage.bring(request))).toBe('expired')
  })

  test('[JAR-1] brings the request of OpenID Connect, with claims as an object', async () => {
    const keys = identityKeys()
    const client = bent(signingPrint, { scope: 'openid photos:read' })
    const set = setStage(
      withIdentity({
        clients: [client.registration],
        plugins: [keys, openIdConnect({ keys, claimsParameter: true }), requestObjects()],
      }),
    )
    const now = Math.floor(set.clock.read() / 1000)
    const claims = { id_token: { sub: { value: 'bob' } } }
    const request = requestObject({ ...objectClaims(now, client), nonce: 'n', claims })
    const asked = { client_id: 'photo-print', request }
    expect(outcomeOf(await set.flow.ask(asked, 'alice'))).toBe('login')
    const page = await set.flow.ask(asked, 'bob')
    const { parameters } = redirectionOf(await set.flow.decide(page, 'approve', 'bob'))
    const { body } = await set.flow.redeem(client, String(parameters['code']))
    const [, payload = ''] = String(body.id_token).split('.')
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({ sub: 'bob', nonce: 'n' })
  })
})

// RFC 9101 4
const example = {
  iss: 's6BhdRkqt3',
  aud: 'https://server.example.com',
  response_type: 'code id_token',
  client_id: 's6BhdRkqt3',
  redirect_uri: 'https://client.example.org/cb',
  scope: 'openid',
  state: 'af0ifjsldkj',
  nonce: 'n-0S6_WzA2Mj',
  max_age: 86_400,
}
const exampleKey = {
  kty: 'RSA',
  kid: 'k2bdc',
  n: 'x5RbkAZkmpRxia65qRQ1wwSMSxQUnS7gcpVTV_cdHmfmG2ltd2yabEO9XadD8pJNZubINPpmgHh3J1aD9WRwS05ucmFq3CfFsluLt13_7oX5yDRSKX7poXmT_5ko8k4NJZPMAO8fPToDTH7kHYbONSE2FYa5GZ60CUsFhSonI-dcMDJ0Ary9lxIw5k2z4TAdARVWcS7sD07VhlMMshrwsPHBQgTatlkxyIHXbYdtak8fqvNAwr7OlVEvM_Ipf5OfmdB8Sd-wjzaBsyP4VhJKoi_qdgSzpC694XZeYPq45Sw-q51iFUlcOlTCI7z6jltUtnR6ySn6XDGFnzH5Fe5ypw',
  e: 'AQAB',
}
const exampleObject = [
  'eyJhbGciOiJSUzI1NiIsImtpZCI6ImsyYmRjIn0',
  'ewogICAgImlzcyI6ICJzNkJoZFJrcXQzIiwKICAgICJhdWQiOiAiaHR0cHM6Ly9zZXJ2ZXIuZXhhbXBsZS5jb20iLAogICAgInJlc3BvbnNlX3R5cGUiOiAiY29kZSBpZF90b2tlbiIsCiAgICAiY2xpZW50X2lkIjogInM2QmhkUmtxdDMiLAogICAgInJlZGlyZWN0X3VyaSI6ICJodHRwczovL2NsaWVudC5leGFtcGxlLm9yZy9jYiIsCiAgICAic2NvcGUiOiAib3BlbmlkIiwKICAgICJzdGF0ZSI6ICJhZjBpZmpzbGRraiIsCiAgICAibm9uY2UiOiAibi0wUzZfV3pBMk1qIiwKICAgICJtYXhfYWdlIjogODY0MDAKfQ',
  'Nsxa_18VUElVaPjqW_ToI1yrEJ67BgKb5xsuZRVqzGkfKrOIX7BCx0biSxYGmjK9KJPctH1OC0iQJwXu5YVY-vnW0_PLJb1C2HG-ztVzcnKZC2gE4i0vgQcpkUOCpW3SEYXnyWnKzuKzqSb1wAZALo5f89B_p6QA6j6JwBSRvdVsDPdulW8lKxGTbH82czCaQ50rLAg3EYLYaCb4ik4I1zGXE4fvim9FIMs8OCMmzwIB5S-ujFfzwFjoyuPEV4hJnoVUmXR_W9typPf846lGwA8h9G9oNTIuX8Ft2jfpnZdFmLg3_wr3Wa5q3a-lfbgF3S9H_8nN3j1i7tLR_5Nz-g',
].join('.')

describe('The example of RFC 9101', () => {
  const key = signer(example.iss, '1')
  const registration = bent(photoPrint, {
    client_id: example.client_id,
    redirect_uris: [example.redirect_uri],
    scope: 'openid photos:read',
    jwks: { keys: [exampleKey, key.jwk] },
  }).registration
  const host = () =>
    objectStage(
      {},
      {
        issuer: example.aud,
        clients: [registration],
        scopes: { openid: 'Know who you are', 'photos:read': 'See your photos' },
        pkce: 'none',
        resourceOwner: (req) => {
          const subject = req.get('X-Owner')
          return subject && { subject, authTime: 1 }
        },
      },
    )
  const https = { 'X-Forwarded-Proto': 'https' }

  test('[JAR-8] is signed as its key says, and answered as printed: of a client with openid, it needs neither type nor end', async () => {
    const proven = await compactVerify(exampleObject, await importJWK(exampleKey, 'RS256'))
    expect(JSON.parse(new TextDecoder().decode(proven.payload))).toEqual(example)
    const stage = host()
    stage.app.set('trust proxy', 'loopback')
    const page = await stage.flow
      .behind(https)
      .ask({ client_id: example.client_id, request: exampleObject }, 'alice')
    const { uri, parameters } = redirectionOf(page)
    expect(uri).toBe(example.redirect_uri)
    expect(parameters).toMatchObject({ error: 'unsupported_response_type', state: example.state })
  })
})
