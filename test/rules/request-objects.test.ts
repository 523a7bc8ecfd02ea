import { createHmac, randomUUID } from 'node:crypto'
import { compactVerify, importJWK } from 'jose'
import type { Response } from 'supertest'
import {
  authorizationIdOf,
  createUnclaimedAuthorization,
  openIdConnect,
  type PlugIn,
  privateKeyJwt,
  pushedAuthorizationRequests,
  requestObjects,
  type RequestObjectOptions,
} from '../../lib/index'
import { encoded, json, jwt, signer } from '../support/assertions/jwt'
import type { Mount } from '../support/flows/application'
import { bent, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { errorPageOf } from '../support/flows/error-page'
import { identityKeys, withIdentity } from '../support/flows/identity-stage'
import { loginOf } from '../support/flows/login-stage'
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
const clients = [signingPrint.registration, signingBook.registration]

function stageWith(
  objects: RequestObjectOptions = {},
  options: Parameters<typeof setStage>[0] = {},
  hosting?: Parameters<typeof setStage>[1],
) {
  const set = setStage({ clients, plugIns: [requestObjects(objects)], ...options }, hosting)
  const now = () => Math.floor(set.clock.read() / 1000)
  const claims = (bend: object = {}) => ({ ...objectClaims(now()), ...bend })
  /** Alice's browser brings a request object of photo-print. */
  const bring = (request: string, bend: object = {}, owner = 'alice') =>
    set.flow.ask({ client_id: 'photo-print', request, ...bend }, owner)
  return { ...set, now, claims, bring }
}

type Stage = ReturnType<typeof stageWith>

/** The reason for which the server refuses an object, on a page. */
async function refusalOf({ failures }: Stage, page: Response): Promise<string> {
  expect(errorPageOf(page)).toBe('400 invalid_request_object')
  return String(failures.at(-1)?.reason)
}

/** What the server makes of an object: a question to the owner, or the reason of its refusal. */
function resultOf({ failures }: Stage, page: Response): string {
  const outcome = outcomeOf(page)
  return outcome === 'page 400 invalid_request_object'
    ? String(failures.at(-1)?.reason).replace('request_object_', '')
    : outcome
}

/** What the claims with these changes, and this header, come to. */
async function reasonOf(
  claims: object,
  header: object = {},
  by = ownKey,
  objects: RequestObjectOptions = {},
) {
  const stage = stageWith(objects)
  return refusalOf(stage, await stage.bring(requestObject(stage.claims(claims), { ...header }, by)))
}

describe('A request object', () => {
  test('[JAR-1] is the whole request, by GET and by POST, with the client_id beside it', async () => {
    const stage = stageWith()
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
    const stage = stageWith()
    const request = requestObject(objectClaims(stage.now(), signingBook), {}, bookKey)
    expect(outcomeOf(await stage.flow.ask({ client_id: 'photo-book', request }, 'alice'))).toBe('question')
    expect(outcomeOf(await stage.bring(requestObject(stage.claims(), {}, rsaKey)))).toBe('question')
  })

  test('[JAR-2] counts alone: no other parameter of the query does', async () => {
    const stage = stageWith()
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
    const stage = stageWith()
    const { redirect_uri: redirectUri, ...others } = authorizationRequest(signingPrint)
    const lacking = requestObject(stage.claims({ response_type: undefined, state: undefined }))
    const { parameters } = redirectionOf(await stage.bring(lacking, { ...others, redirect_uri: redirectUri }))
    expect(parameters).toEqual(expect.objectContaining({ error: 'invalid_request' }))
    expect(parameters).not.toHaveProperty('state')
  })

  test('[JAR-2] chooses the language of its pages', async () => {
    const stage = stageWith()
    const page = await stage.bring(requestObject(stage.claims({ ui_locales: 'de' })), { ui_locales: 'fr' })
    expect(page.text).toContain('<html lang="de">')
  })

  test.each<[string, unknown]>([
    ['another client', 'photo-book'],
    ['no client', undefined],
    ['a list', ['photo-print']],
    ['another letter case', 'Photo-Print'],
  ])('[JAR-3] whose client_id names %s is refused', async (_which, client_id) => {
    expect(await reasonOf({ client_id })).toBe('request_object_of_another_client')
  })

  test('[JAR-3] of another client is refused, whoever brings it', async () => {
    const stage = stageWith()
    const ofBook = requestObject(objectClaims(stage.now(), signingBook), {}, bookKey)
    expect(await refusalOf(stage, await stage.bring(ofBook))).toBe('request_object_issuer_wrong')
    const inName = requestObject(stage.claims(), {}, bookKey)
    expect(await refusalOf(stage, await stage.bring(inName))).toBe('request_object_signature_wrong')
  })

  test('[JAR-4] stands alone: request and request_uri together are refused', async () => {
    const stage = stageWith()
    const both = await stage.bring(requestObject(stage.claims()), { request_uri: 'https://print.example/r' })
    expect(errorPageOf(both)).toBe('400 invalid_request')
    const twice = await stage.bring('a', { request: ['a', 'b'] })
    expect(errorPageOf(twice)).toBe('400 invalid_request')
  })

  test.each([
    [
      'none, without a signature',
      (claims: object) => `${json({ alg: 'none' })}.${json(claims)}.`,
      'malformed',
    ],
    [
      'none, with a signature',
      (claims: object) => `${json({ alg: 'none', typ: 'oauth-authz-req+jwt', kid: '1' })}.${json(claims)}.AA`,
      'algorithm_refused',
    ],
    ['encryption alone (JWE)', () => ['a', 'b', 'c', 'd', 'e'].map(encoded).join('.'), 'malformed'],
    ['no JWT', () => 'https://print.example/', 'malformed'],
    ['no JSON', () => jwt(ownKey, 'x', { typ: 'oauth-authz-req+jwt' }), 'malformed'],
  ])('[JAR-5] with %s is refused', async (_what, made, reason) => {
    const stage = stageWith()
    expect(await refusalOf(stage, await stage.bring(made(stage.claims())))).toBe(`request_object_${reason}`)
  })

  test.each<[string, object, string]>([
    ['no key of the client', {}, 'signature_wrong'],
    ['an unknown kid', { kid: '9' }, 'key_unknown'],
    ['no kid, where the client has several keys of the kind', { kid: undefined }, 'signature_wrong'],
    ['its own key in jwk', { jwk: strangeKey.jwk }, 'signature_wrong'],
    ['its own key at jku', { jku: 'https://evil.example/jwks.json' }, 'signature_wrong'],
    ['its own key at x5u', { x5u: 'https://evil.example/chain.pem' }, 'signature_wrong'],
    ['a path as kid', { kid: '../../../../dev/null' }, 'key_unknown'],
    ['a kid of __proto__', { kid: '__proto__' }, 'key_unknown'],
    ['a critical extension', { crit: ['exp'], exp: 1 }, 'header_refused'],
    ['an unencoded payload', { b64: false }, 'header_refused'],
  ])('[JAR-6] that a stranger signs with %s is refused', async (_what, header, reason) => {
    expect(await reasonOf({}, header, strangeKey)).toBe(`request_object_${reason}`)
  })

  test('[JAR-6] of a client without keys is refused, and one whose key is gone', async () => {
    const options = { clients: [photoPrint.registration] }
    const stage = stageWith({}, options)
    const request = requestObject(stage.claims())
    expect(await refusalOf(stage, await stage.bring(request))).toBe('request_object_without_keys')
    const rotated = stageWith(
      {},
      { clients: [bent(photoPrint, { jwks: { keys: [strangeKey.jwk] } }).registration] },
    )
    expect(await refusalOf(rotated, await rotated.bring(request))).toBe('request_object_signature_wrong')
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
    const stage = stageWith({ documents }, { clients: [registration] })
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
    const options = { clients: [registration], clientAuthenticationMethods: [privateKeyJwt()] }
    const stage = stageWith({}, options)
    expect(outcomeOf(await stage.bring(requestObject(stage.claims())))).toBe('question')
  })

  test('[JAR-7] with the public key as the secret of HS256 is refused', async () => {
    const stage = stageWith()
    const head = json({ alg: 'HS256', typ: 'oauth-authz-req+jwt', kid: '1' })
    const input = `${head}.${json(stage.claims())}`
    for (const secret of [
      ownKey.publicKey.export({ type: 'spki', format: 'pem' }),
      JSON.stringify(ownKey.jwk),
      String(signingPrint.secret),
    ]) {
      const mac = createHmac('sha256', secret).update(input).digest('base64url')
      const page = await stage.bring(`${input}.${mac}`)
      expect(await refusalOf(stage, page)).toBe('request_object_algorithm_refused')
    }
  })

  test('[JAR-7] has an algorithm of the server, and that of its registration if it names one', async () => {
    expect(await reasonOf({}, {}, rsaKey, { algorithms: ['ES256'] })).toBe('request_object_algorithm_refused')
    const registration = bent(signingPrint, { request_object_signing_alg: 'RS256' }).registration
    const stage = stageWith({}, { clients: [registration] })
    expect(outcomeOf(await stage.bring(requestObject(stage.claims(), {}, rsaKey)))).toBe('question')
    const other = await stage.bring(requestObject(stage.claims()))
    expect(await refusalOf(stage, other)).toBe('request_object_algorithm_refused')
  })

  test.each(['JWT', undefined, 'at+jwt', 'client-authentication+jwt', 'application/jwt', 1])(
    '[JAR-8] has the type oauth-authz-req+jwt: %s is refused',
    async (typ) => {
      expect(await reasonOf({}, { typ })).toBe('request_object_header_refused')
    },
  )

  test('[JAR-8] may write its type with application/, in any letter case', async () => {
    const stage = stageWith()
    const request = requestObject(stage.claims(), { typ: 'application/OAuth-Authz-Req+JWT' })
    expect(outcomeOf(await stage.bring(request))).toBe('question')
  })

  describe('of a client with openid', () => {
    const client = bent(signingPrint, { scope: 'openid photos:read' })
    const { clients: _, ...identity } = withIdentity({ clients: [client.registration] })
    const plugIns = [...(identity.plugIns ?? []), requestObjects(), pushedAuthorizationRequests()]
    const open = () => stageWith({}, { ...identity, clients: [client.registration], plugIns })
    const untyped = (claims: object, typ?: unknown, by = ownKey) =>
      requestObject({ ...claims, nonce: 'n' }, { typ }, by)
    const claimsOf = (stage: Stage, bend: object = {}) => stage.claims({ scope: 'openid', ...bend })

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

    test('[JAR-8, JAR-18] without a type may be pushed, and leads to an ID token', async () => {
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
      clientAuthenticationMethods: [privateKeyJwt()],
    }
    const assertion = (now: number) => ({
      iss: 'photo-print',
      sub: 'photo-print',
      aud: issuer,
      jti: randomUUID(),
      exp: now + 60,
    })
    const authenticate = async ({ flow }: Stage, client_assertion: string) =>
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
        const stage = stageWith({}, both)
        const { response_type: _, ...others } = stage.claims()
        const made = jwt(ownKey, { ...others, ...assertion(stage.now()) }, { typ })
        expect(await authenticate(stage, made)).toBe('tokens')
        expect(await refusalOf(stage, await stage.bring(made))).toBe('request_object_header_refused')
        const asking = jwt(ownKey, { ...stage.claims(), ...assertion(stage.now()) }, { typ })
        expect(await authenticate(stage, asking)).toBe('401 invalid_client')
        expect(stage.failures.at(-1)?.reason).toBe('client_assertion_header_refused')
      },
    )

    test('[JAR-9] a request object does not pass for an assertion, even with all its claims', async () => {
      const stage = stageWith({}, both)
      const made = requestObject({ ...stage.claims(), ...assertion(stage.now()), sub: 'photo-print' })
      expect(await authenticate(stage, made)).toBe('401 invalid_client')
      const { sub: _, ...good } = { ...stage.claims(), ...assertion(stage.now()) }
      expect(await authenticate(stage, requestObject(good))).toBe('400 invalid_request')
      expect(outcomeOf(await stage.bring(requestObject(good)))).toBe('question')
    })

    test('[JAR-9] an object whose sub is its client is refused', async () => {
      expect(await reasonOf({ sub: 'photo-print' })).toBe('request_object_as_assertion')
      const stage = stageWith()
      expect(outcomeOf(await stage.bring(requestObject(stage.claims({ sub: 'alice' }))))).toBe('question')
    })
  })

  test.each(['request', 'request_uri'])('[JAR-10] with %s inside is refused', async (name) => {
    expect(await reasonOf({ [name]: 'x' })).toBe('request_object_nested')
    expect(await reasonOf({ [name]: null })).toBe('request_object_nested')
  })

  test.each<[unknown, string]>([
    [[issuer], 'question'],
    [['https://other.example', issuer], 'question'],
    [`${issuer}/`, 'audience_wrong'],
    [`${issuer}/authorize`, 'audience_wrong'],
    [['https://other.example'], 'audience_wrong'],
    [[], 'audience_wrong'],
    [undefined, 'incomplete'],
  ])('[JAR-11] of audience %j names the issuer, or is refused', async (aud, reason) => {
    const stage = stageWith()
    const page = await stage.bring(requestObject(stage.claims({ aud })))
    expect(resultOf(stage, page)).toBe(reason)
  })

  test.each<[unknown, string]>([
    ['photo-book', 'issuer_wrong'],
    [undefined, 'incomplete'],
    [['photo-print'], 'incomplete'],
    ['__proto__', 'issuer_wrong'],
  ])('[JAR-11] of issuer %j is refused: the client is its issuer', async (iss, reason) => {
    expect(await reasonOf({ iss })).toBe(`request_object_${reason}`)
  })

  test.each<[string, (now: number) => object, string]>([
    ['ended', (now) => ({ exp: now - 31 }), 'expired'],
    ['ended within the tolerance', (now) => ({ exp: now - 29 }), 'question'],
    ['never ends', () => ({ exp: undefined }), 'incomplete'],
    ['ends at a text', (now) => ({ exp: String(now + 60) }), 'incomplete'],
    ['ends later than the server allows', (now) => ({ exp: now + 3631 }), 'too_long_lived'],
    ['ends when the server allows', (now) => ({ exp: now + 3630 }), 'question'],
    ['is not valid yet', (now) => ({ nbf: now + 31 }), 'not_yet_valid'],
    ['was made in the future', (now) => ({ iat: now + 31 }), 'not_yet_valid'],
    ['was made within the tolerance', (now) => ({ iat: now + 29, nbf: now + 29 }), 'question'],
  ])('[JAR-12] that %s', async (_when, bend, reason) => {
    const stage = stageWith()
    const page = await stage.bring(requestObject(stage.claims(bend(stage.now()))))
    expect(resultOf(stage, page)).toBe(reason)
  })

  test('[JAR-12] is judged when the server sent its owner to the login, who may return after its end', async () => {
    const stage = stageWith()
    const request = requestObject(stage.claims({ state: 'z' }))
    const { back } = loginOf(await stage.flow.ask({ client_id: 'photo-print', request }))
    stage.clock.advance(300)
    const page = await stage.flow.open(back, 'alice')
    expect(outcomeOf(page)).toBe('question')
    const { parameters } = redirectionOf(await stage.flow.decide(page, 'approve', 'alice'))
    expect(parameters).toMatchObject({ state: 'z', code: expect.any(String) })
  })

  test('[JAR-12] that ended during the login is approved without a page where the host says so', async () => {
    const stage = stageWith({}, { skipConsent: () => true })
    const request = requestObject(stage.claims())
    const { back } = loginOf(await stage.flow.ask({ client_id: 'photo-print', request }))
    stage.clock.advance(300)
    expect(outcomeOf(await stage.flow.open(back, 'alice'))).toBe('redirect code')
  })

  test('[JAR-12] may say prompt=none and prompt=login', async () => {
    const stage = stageWith()
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
    const stage = stageWith()
    const first = requestObject(stage.claims({ state: '1' }))
    const { back } = loginOf(await stage.flow.ask({ client_id: 'photo-print', request: first }))
    const second = requestObject(stage.claims({ state: '2' }))
    stage.clock.advance(120)
    const moved = back.replace(first, second)
    expect(await refusalOf(stage, await stage.flow.open(moved, 'alice'))).toBe('request_object_expired')
    const bare = back.replace(/&login_returns=[^&]*/, '')
    expect(await refusalOf(stage, await stage.flow.open(bare, 'alice'))).toBe('request_object_expired')
    const ended = requestObject(stage.claims({ exp: stage.now() - 60 }))
    expect(await refusalOf(stage, await stage.flow.ask({ client_id: 'photo-print', request: ended }))).toBe(
      'request_object_expired',
    )
    stage.clock.advance(600)
    expect(await refusalOf(stage, await stage.flow.open(back, 'alice'))).toBe('request_object_expired')
  })

  test('[JAR-13] turns claims that are no texts into parameters: numbers, lists and JSON', async () => {
    const seen: string[] = []
    const watching = {
      name: 'watching',
      authorizationParameters: [],
      atAuthorizationRequest: ({ parameters }: { parameters: { format(): string } }) => {
        seen.push(parameters.format())
        return undefined
      },
    }
    const withoutGuard = { mount: ((app, oauth) => void app.use(oauth.router())) satisfies Mount }
    const options = { extensions: [watching], resources: threeResources }
    const stage = stageWith({}, options, withoutGuard)
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

  test('[JAR-13] with a value of thousands of levels, or more parameters than a request may have, is refused', async () => {
    const stage = stageWith()
    const deep: unknown = JSON.parse('['.repeat(4000) + ']'.repeat(4000))
    const signed = requestObject(stage.claims({ deep }))
    expect(await refusalOf(stage, await stage.bring(signed))).toBe('request_object_claim_malformed')
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`p${index}`, 'x']))
    expect(errorPageOf(await stage.bring(requestObject(stage.claims(many))))).toBe('400 invalid_request')
  })

  test('[JAR-14] that is not valid leads nowhere, whatever redirection URI comes with it', async () => {
    const stage = stageWith()
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

  test('[JAR-14] whose redirection URI is not registered is refused on a page', async () => {
    const stage = stageWith()
    const page = await stage.bring(requestObject(stage.claims({ redirect_uri: 'https://evil.example/' })), {
      redirect_uri: 'https://print.example/callback',
    })
    expect(errorPageOf(page)).toBe('400 invalid_request')
  })

  test.each([
    'https://print.example/request.jwt',
    'https://tfp.example.org/request.jwt/GkurKxf5T0Y',
    'urn:x',
  ])('[JAR-15] at a request_uri of its client is not fetched: %s', async (request_uri) => {
    const stage = stageWith({ documents: { fetch: () => Promise.reject(new Error('fetched')) } })
    const asked = { ...authorizationRequest(signingPrint), request_uri }
    const { parameters } = redirectionOf(await stage.flow.ask(asked, 'alice'))
    expect(parameters).toMatchObject({ error: 'request_uri_not_supported', state: 'af0ifjsldkj' })
  })

  test('[JAR-16] is demanded of every client by the server, and of one client by its registration', async () => {
    const plain = authorizationRequest(signingPrint)
    const strict = stageWith({ required: true })
    expect(errorPageOf(await strict.flow.ask(plain, 'alice'))).toBe('400 invalid_request')
    expect(strict.failures.at(-1)?.reason).toBe('request_object_missing')
    expect(errorPageOf(await strict.flow.ask({ ...plain, request: '' }, 'alice'))).toBe('400 invalid_request')
    const none = await strict.bring(`${json({ alg: 'none' })}.${json(strict.claims())}.`)
    expect(await refusalOf(strict, none)).toBe('request_object_malformed')
    for (const request_uri of ['', 'urn:ietf:params:oauth:request_uri:x'])
      expect(outcomeOf(await strict.flow.ask({ ...plain, request_uri }, 'alice'))).not.toBe('question')
    const byUri = await strict.flow.ask({ ...plain, request_uri: 'https://print.example/r' }, 'alice')
    expect(redirectionOf(byUri).parameters['error']).toBe('request_uri_not_supported')
    expect(outcomeOf(await strict.bring(requestObject(strict.claims())))).toBe('question')
    const one = bent(signingPrint, { require_signed_request_object: true }).registration
    const stage = stageWith({}, { clients: [one, signingBook.registration] })
    expect(errorPageOf(await stage.flow.ask(plain, 'alice'))).toBe('400 invalid_request')
    expect(outcomeOf(await stage.bring(requestObject(stage.claims())))).toBe('question')
    expect(outcomeOf(await stage.flow.ask(authorizationRequest(signingBook), 'alice'))).toBe('question')
  })

  test('[JAR-16] is no matter for a client that may send plain requests', async () => {
    const stage = stageWith()
    expect(outcomeOf(await stage.flow.ask(authorizationRequest(signingPrint), 'alice'))).toBe('question')
  })

  test.each<[string, unknown, string]>([
    ['jwks', { keys: [] }, 'jwks'],
    ['jwks', { keys: [{ ...ownKey.privateKey.export({ format: 'jwk' }) }] }, 'jwks'],
    ['jwks_uri', 'http://print.example/jwks.json', 'jwks_uri'],
    ['request_object_signing_alg', 'none', 'request_object_signing_alg'],
    ['request_object_signing_alg', 'HS256', 'request_object_signing_alg'],
    ['require_signed_request_object', 'true', 'require_signed_request_object'],
    ['require_signed_request_object', true, 'require_signed_request_object'],
  ])('[JAR-17] no registration has %s of %j without a use', (name, value, path) => {
    const member: object = { [name]: value }
    const registration = { ...photoPrint.registration, ...member }
    expect(() => stageWith({}, { clients: [registration] })).toThrow(new RegExp(`clients\\[0\\]\\.${path}`))
  })

  test('[JAR-17] no registration has both jwks and jwks_uri', () => {
    const registration = bent(signingPrint, { jwks_uri: 'https://print.example/jwks.json' }).registration
    expect(() => stageWith({}, { clients: [registration] })).toThrow(/together with jwks_uri/)
  })

  test('[JAR-17] a client that registers itself may state its keys, and sign with them', async () => {
    const stage = stageWith({}, { dynamicRegistration: {}, clientAuthenticationMethods: [privateKeyJwt()] })
    const metadata = {
      redirect_uris: ['https://notes.example/callback'],
      token_endpoint_auth_method: 'none',
      scope: 'photos:read',
      jwks: { keys: [bookKey.jwk] },
      request_object_signing_alg: 'ES256',
      require_signed_request_object: true,
    }
    const register = (bend: object) =>
      stage.flow.submit('/register', JSON.stringify({ ...metadata, ...bend }), undefined, {
        'Content-Type': 'application/json',
      })
    const { status, body } = await register({})
    expect([status, body]).toEqual([201, expect.objectContaining({ jwks: { keys: [bookKey.jwk] } })])
    const client = { registration: { ...signingBook.registration, client_id: String(body.client_id) } }
    const asked = {
      ...objectClaims(stage.now(), client),
      redirect_uri: metadata.redirect_uris[0],
      scope: 'photos:read',
    }
    const request = requestObject(asked, {}, bookKey)
    expect(outcomeOf(await stage.flow.ask({ client_id: body.client_id, request }, 'alice'))).toBe('question')
    const keyed = await register({ token_endpoint_auth_method: 'private_key_jwt' })
    expect([keyed.status, keyed.body.jwks]).toEqual([201, { keys: [bookKey.jwk] }])
    const bad = await register({ request_object_signing_alg: 'none' })
    expect([bad.status, bad.body.error]).toEqual([400, 'invalid_client_metadata'])
  })

  test('[JAR-18] may come in a pushed request, whose other parameters count for nothing', async () => {
    const stage = stageWith({ required: true }, { plugIns: [requestObjects({ required: true }), pushing] })
    const push = (fields: Readonly<Record<string, string>>) =>
      stage.flow.request(signingPrint, fields, '/push')
    const pushed = await push({ request: requestObject(stage.claims()), state: 'other', scope: 'x' })
    expect(pushed.status).toBe(201)
    const request_uri = String(pushed.body.request_uri)
    // The object has ended when the owner arrives: it was good when the client pushed it.
    stage.clock.advance(120)
    const page = await stage.flow.ask({ client_id: 'photo-print', request_uri }, 'alice')
    const { parameters } = redirectionOf(await stage.flow.decide(page, 'approve', 'alice'))
    expect(parameters['state']).toBe('af0ifjsldkj')
    for (const [fields, error] of [
      [{ ...plainFields }, 'invalid_request'],
      [{ request: requestObject(stage.claims({ exp: 1 })) }, 'invalid_request_object'],
      [
        { request: requestObject(objectClaims(stage.now(), signingBook), {}, bookKey) },
        'invalid_request_object',
      ],
    ] as const) {
      const refused = await push(fields)
      expect([refused.status, refused.body.error]).toEqual([400, error])
    }
  })

  test('[JAR-18] does not count for a pushed request by the order of the plug-ins', async () => {
    const stage = stageWith({}, { plugIns: [pushing, requestObjects({ required: true })] })
    const { body } = await stage.flow.request(
      signingPrint,
      { request: requestObject(stage.claims()) },
      '/push',
    )
    const asked = { client_id: 'photo-print', request_uri: String(body.request_uri) }
    expect(outcomeOf(await stage.flow.ask(asked, 'alice'))).toBe('question')
  })

  test('[JAR-19] has at most 16 KiB, and a longer one is refused unread', async () => {
    const stage = stageWith()
    const fields = {
      client_id: 'photo-print',
      request: requestObject(stage.claims({ filler: 'x'.repeat(13_000) })),
    }
    expect(fields.request.length).toBeGreaterThan(16 * 1024)
    expect(await refusalOf(stage, await stage.flow.submit('/authorize', fields, 'alice'))).toBe(
      'request_object_malformed',
    )
    const good = { ...fields, request: requestObject(stage.claims({ filler: 'x'.repeat(11_000) })) }
    expect(outcomeOf(await stage.flow.submit('/authorize', good, 'alice'))).toBe('question')
    const huge = { ...fields, request: 'a'.repeat(1024 * 1024) }
    const page = await stage.flow.submit('/authorize', huge, 'alice')
    expect([page.status, stage.failures.at(-1)?.reason]).toEqual([400, 'body_too_large'])
  })

  test('[JAR-20] is good until its end, as often as a browser brings it, also with the same jti', async () => {
    const stage = stageWith()
    const request = requestObject(stage.claims({ jti: '1' }))
    for (const owner of ['alice', 'alice', 'bob']) {
      const page = await stage.bring(request, {}, owner)
      expect(outcomeOf(page)).toBe('question')
      // The link to another account would change the query, which counts for nothing.
      expect(page.text).not.toContain('Not you?')
    }
    stage.clock.advance(100)
    expect(await refusalOf(stage, await stage.bring(request))).toBe('request_object_expired')
  })

  test('[JAR-21, META-2] the metadata says what the server takes, with the plug-in alone', async () => {
    const metadataOf = async ({ flow }: Pick<Stage, 'flow'>): Promise<Record<string, unknown>> =>
      (await flow.open('/.well-known/oauth-authorization-server')).body
    const plain = await metadataOf(setStage())
    const metadata = await metadataOf(stageWith())
    const added = Object.keys(metadata).filter((name) => !Object.hasOwn(plain, name))
    expect(added.toSorted()).toEqual([
      'request_object_signing_alg_values_supported',
      'request_parameter_supported',
      'require_signed_request_object',
    ])
    expect(metadata).toMatchObject({
      request_parameter_supported: true,
      require_signed_request_object: false,
    })
    expect(await metadataOf(stageWith({ required: true }))).toMatchObject({
      require_signed_request_object: true,
    })
    const listed: unknown = metadata['request_object_signing_alg_values_supported']
    expect(listed).toEqual('RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' '))
  })

  test.each(['before', 'after'])(
    '[JAR-21] the metadata of a server with OpenID Connect says so, with the plug-in %s it',
    async (place) => {
      const keys = identityKeys()
      const identity = [keys, openIdConnect({ keys })]
      const plugIns = place === 'before' ? [requestObjects(), ...identity] : [...identity, requestObjects()]
      const { flow } = setStage(withIdentity({ plugIns }))
      const { body } = await flow.open('/.well-known/openid-configuration')
      expect(body).toMatchObject({
        request_parameter_supported: true,
        request_uri_parameter_supported: false,
      })
    },
  )

  test('[JAR-1] brings the request of OpenID Connect, with claims as an object', async () => {
    const keys = identityKeys()
    const client = bent(signingPrint, { scope: 'openid photos:read' })
    const set = setStage(
      withIdentity({
        clients: [client.registration],
        plugIns: [keys, openIdConnect({ keys, claimsParameter: true }), requestObjects()],
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

const plainFields = { ...authorizationRequest(signingPrint), redirect_uri: 'https://print.example/callback' }

const urn = 'urn:ietf:params:oauth:request_uri:'

/** A small endpoint for pushed requests. */
const pushing: PlugIn = {
  name: 'pushing',
  open: (server) => ({
    endpoints: [
      {
        name: 'push',
        path: '/push',
        async handle({ client, parameters, sender }) {
          const parsed = await server.parseAuthorizationRequest(client, parameters, undefined, sender)
          const extensionData = { ...parsed.proposal.extensionData, pushing: parsed.parameters }
          const { unclaimed, handle } = createUnclaimedAuthorization(
            { ...parsed.proposal, extensionData },
            server.context(),
          )
          await server.begin(unclaimed)
          return { status: 201, members: { request_uri: urn + handle } }
        },
      },
    ],
    extensions: [
      {
        name: 'pushing',
        async resolveRequest(parameters, _client, { isPushed }) {
          const uri = parameters.get('request_uri')
          if (isPushed || uri?.startsWith(urn) !== true) return undefined
          const claims = uri.slice(urn.length)
          const id = authorizationIdOf(claims) ?? ''
          const kept = (await server.find(id))?.extensionData['pushing']
          return typeof kept === 'string' ? { parameters: kept, claims } : undefined
        },
      },
    ],
  }),
}

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
    stageWith(
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

  test('[JAR-1, JAR-2] is answered by its own parameters, once it has both', async () => {
    const stage = host()
    stage.app.set('trust proxy', 'loopback')
    const flow = stage.flow.behind(https)
    const ask = (bend: object) => {
      const request = requestObject({ ...example, exp: stage.now() + 60, ...bend }, {}, key)
      return flow.ask({ client_id: example.client_id, request }, 'alice')
    }
    const { uri, parameters } = redirectionOf(await ask({}))
    expect(uri).toBe('https://client.example.org/cb')
    expect(parameters).toMatchObject({ error: 'unsupported_response_type', state: 'af0ifjsldkj' })
    expect(outcomeOf(await ask({ response_type: 'code' }))).toBe('login')
  })
})
