import { randomUUID } from 'node:crypto'
import request, { type Response } from 'supertest'
import { apiKey } from '../../../docs/examples/api-key'
import { claimsAt, hub, jwt } from '../../support/assertions/jwt'
import type { ClientApplication } from '../../support/flows/clients'
import { consentFormOf } from '../../support/flows/consent-form'
import { errorPageOf } from '../../support/flows/error-page'
import { authorizationRequest, basic, type Fields, formOf, redemption } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { wonderland } from '../../support/flows/password'
import { postedFormOf } from '../../support/flows/posted-form'
import { codeChallenge, codeVerifier } from '../../support/flows/proof-key'
import { notesApp } from '../../support/flows/registering'
import { exchangeOf, tokenExchangeName } from '../../support/flows/token-exchange'
import { encoded, signedXml } from '../../support/saml/assertion'
import { assertionOf } from './client-assertions'
import { guardedPath, type Host, ofHost } from './hosts'
import * as registries from './registries'
import { signedExercises } from './signed-exercises'

/** How a client uses a value that a member of the metadata may list. */
export interface Exercise {
  /** The values that clients know, listed here or not. */
  readonly known: readonly string[] | ((host: Host) => readonly string[])
  /** The outcome of each value that is listed. */
  readonly good: string
  /** The outcome of each value that is not. */
  readonly refused: string | ((host: Host, value: string) => string)
  attempt(host: Host, value: string): Promise<string>
}

/** The values that the member lists; a text or `true` is one value. */
export function valuesOf(value: unknown): readonly string[] {
  return [value ?? []].flat().map(String)
}

const reading = 'photos:read'
const urn = 'urn:ietf:params:oauth:grant-type:'
const isOfHost = (response: Response) => response.status === 404 && response.text === ofHost
const outcome = (response: Response) => (isOfHost(response) ? ofHost : outcomeOf(response))
const takesPublicClients = ({ metadata }: Host) =>
  valuesOf(metadata['token_endpoint_auth_methods_supported']).includes('none')
const hasOwners = ({ metadata }: Host) => metadata['authorization_endpoint'] !== undefined
const unlessMissing = (refused: string) => (host: Host) => (hasOwners(host) ? refused : ofHost)

/** The scope for reading, at the resource that has it. */
const readingAt = ({ resourceOf }: Host): Fields => ({ scope: reading, resource: resourceOf(reading) })

/** An authorization request of the public client that its owner approves: the error code, or the parameters that come. */
async function authorization(host: Host, bend: Fields): Promise<string | Answer> {
  const asked = { ...authorizationRequest(host.book), ...readingAt(host), ...bend }
  const page = await host.flow.ask(asked, 'alice')
  if (isOfHost(page)) return ofHost
  if (page.status >= 400) return `page ${errorPageOf(page)}`
  const answer = answerIn(page.status === 303 ? page : await host.flow.decide(page, 'approve', 'alice'))
  return answer.parameters.get('error') ?? answer
}

interface Answer {
  readonly mode: string
  readonly parameters: URLSearchParams
}

function answerIn(response: Response): Answer {
  if (response.status === 200)
    return { mode: 'form_post', parameters: new URLSearchParams(postedFormOf(response).fields) }
  const { hash, search } = new URL(response.get('Location') ?? '')
  if (hash !== '') return { mode: 'fragment', parameters: new URLSearchParams(hash.slice(1)) }
  return { mode: 'query', parameters: new URLSearchParams(search) }
}

/** The redemption of a code that the owner has approved for reading. */
export async function approved(host: Host, client: ClientApplication, bend: Fields = {}): Promise<Fields> {
  return redemption(client, await host.flow.approve(client, { ...readingAt(host), ...bend }))
}

/** A grant that this client may use on this server. */
async function grantOf(host: Host, client: ClientApplication): Promise<Fields> {
  if (client === host.gallery) return { grant_type: 'client_credentials', ...readingAt(host) }
  if (hasOwners(host)) return approved(host, client)
  const assertion = jwt(hub, { ...claimsAt(host.now()), aud: host.issuer })
  return { grant_type: `${urn}jwt-bearer`, assertion, ...readingAt(host) }
}

async function accessTokenOf(host: Host, client: ClientApplication): Promise<string> {
  const { body } = await host.flow.request(client, await grantOf(host, client))
  return String(body.access_token)
}

type Prepare = (host: Host) => Fields | Promise<Fields>

const identityAssertion: Prepare = (host) => {
  const claims = { ...claimsAt(host.now()), aud: host.issuer, client_id: 'gallery', scope: reading }
  const resource = host.resourceOf(reading)
  return { assertion: jwt(hub, { ...claims, resource }, { typ: 'oauth-id-jag+jwt' }), scope: reading }
}

/** A good request of each grant type, beyond `grant_type`. */
const grants: Readonly<Record<string, Prepare>> = {
  authorization_code: (host) => (hasOwners(host) ? approved(host, host.gallery) : { code: 'x' }),
  async refresh_token(host) {
    if (!hasOwners(host)) return { refresh_token: 'x' }
    const { body } = await host.flow.request(host.gallery, await approved(host, host.gallery))
    return { refresh_token: body.refresh_token }
  },
  client_credentials: readingAt,
  password: (host) => ({ ...wonderland, ...readingAt(host) }),
  [`${urn}jwt-bearer`](host) {
    if (host.metadata['authorization_grant_profiles_supported'] !== undefined) return identityAssertion(host)
    const claims = { ...claimsAt(host.now()), aud: host.issuer }
    return { assertion: jwt(hub, claims), ...readingAt(host) }
  },
  [`${urn}saml2-bearer`]: (host) => ({
    assertion: encoded(signedXml({ now: host.now(), id: `_${randomUUID()}` })),
    ...readingAt(host),
  }),
  async [tokenExchangeName](host) {
    const subject = hasOwners(host)
      ? String((await host.flow.request(host.gallery, await approved(host, host.gallery))).body.access_token)
      : 'x'
    return { ...exchangeOf(subject), ...readingAt(host) }
  },
  [`${urn}device_code`]: deviceGrantOf,
  [`${urn}uma-ticket`]: () => ({ ticket: 'x' }),
  [`${urn}pre-authorized_code`]: () => ({ 'pre-authorized_code': 'x' }),
  'urn:openid:params:grant-type:ciba': () => ({ auth_req_id: 'x' }),
}

/** The device code of a request that its owner has approved. */
async function deviceGrantOf(host: Host): Promise<Fields> {
  const { flow, gallery, metadata } = host
  const [endpoint] = valuesOf(metadata['device_authorization_endpoint'])
  if (endpoint === undefined) return { device_code: 'x' }
  const { body } = await flow.request(gallery, readingAt(host), new URL(endpoint).pathname)
  const { pathname } = new URL(body.verification_uri)
  const page = await flow.enterCode({ user_code: body.user_code }, 'alice', {}, pathname)
  await flow.submit(pathname, { ...consentFormOf(page, pathname).fields, decision: 'approve' }, 'alice')
  return { device_code: body.device_code }
}

async function tokenBy(host: Host, grant_type: string): Promise<string> {
  const prepare = grants[grant_type]
  if (prepare === undefined) throw new Error(`No exercise uses the grant type ${grant_type}.`)
  return outcome(await host.flow.request(host.gallery, { ...(await prepare(host)), grant_type }))
}

async function implicitly(host: Host): Promise<string> {
  const answer = await authorization(host, { response_type: 'token' })
  const atTokenEndpoint = outcome(await host.flow.request(host.gallery, { grant_type: 'implicit' }))
  return typeof answer !== 'string' && answer.parameters.has('access_token') ? 'tokens' : atTokenEndpoint
}

interface Presented {
  readonly fields?: Fields
  readonly headers?: Readonly<Record<string, string>>
}

const assertionBy = (host: Host, alg: string): Presented => ({
  fields: assertionOf(alg, { client_id: 'gallery', secret: host.gallery.secret }, host.issuer, host.now()),
})
const byName: Presented = { fields: { client_id: 'gallery' } }

/** How a client presents itself by each method. */
const methods: Readonly<Record<string, (host: Host) => Presented>> = {
  none: () => ({ headers: { Authorization: basic('photo-book', '') } }),
  client_secret_basic: ({ gallery }) => ({ headers: { Authorization: basic('gallery', gallery.secret) } }),
  client_secret_post: ({ gallery }) => ({ fields: { client_id: 'gallery', client_secret: gallery.secret } }),
  client_secret_jwt: (host) => assertionBy(host, 'HS256'),
  private_key_jwt: (host) => assertionBy(host, 'ES256'),
  // The certificate would come with the connection.
  tls_client_auth: () => byName,
  self_signed_tls_client_auth: () => byName,
  [apiKey.name]: ({ gallery }) => ({ headers: { Authorization: gallery.apiKey } }),
}

type Endpoint =
  | 'token'
  | 'revocation'
  | 'introspection'
  | 'whoami'
  | 'device_authorization'
  | 'pushed_authorization_request'

async function callOf(
  host: Host,
  endpoint: Endpoint,
  client: ClientApplication,
  { fields = {}, headers = {} }: Presented,
): Promise<string> {
  const { flow, app } = host
  const mount = new URL(host.issuer).pathname.replace(/\/$/, '')
  if (endpoint === 'pushed_authorization_request') {
    const asked = { ...authorizationRequest(client), ...readingAt(host), ...fields }
    return served(await flow.submit(`${mount}/par`, asked, undefined, headers))
  }
  if (endpoint === 'whoami') {
    const path = `${mount}/whoami`
    const asked = request(app).get(path).set(headers).type('form')
    return served(await asked.send(formOf(fields)))
  }
  if (endpoint === 'device_authorization') {
    const path = `${new URL(host.issuer).pathname.replace(/\/$/, '')}/device_authorization`
    return served(await flow.submit(path, { ...readingAt(host), ...fields }, undefined, headers))
  }
  const [path, content] =
    endpoint === 'token'
      ? [flow.paths.token, await grantOf(host, client)]
      : [
          endpoint === 'revocation' ? flow.paths.revoke : flow.paths.introspect,
          { token: await accessTokenOf(host, client) },
        ]
  return served(await flow.submit(path, { ...content, ...fields }, undefined, headers))
}

const served = (response: Response) =>
  response.status === 201 || (response.status === 200 && response.body.active !== false)
    ? 'served'
    : outcome(response)

const authenticationAt = (endpoint: Endpoint): Exercise => ({
  known: [...registries.authenticationMethods, apiKey.name],
  good: 'served',
  // Where the server knows public clients by `none`, introspection is for others.
  refused: (host, method) =>
    method === 'none' && takesPublicClients(host) && endpoint === 'introspection'
      ? '400 unauthorized_client'
      : refusedAt(endpoint, host),
  attempt(host, method) {
    const present = methods[method]
    if (present === undefined) throw new Error(`No exercise authenticates by ${method}.`)
    return callOf(host, endpoint, method === 'none' ? host.book : host.gallery, present(host))
  },
})

const signatureAt = (endpoint: Endpoint): Exercise => ({
  known: registries.signingAlgorithms,
  good: 'served',
  // Without a signature, an assertion is no JWT. Without the method, and without a form, there is none at all.
  refused: (host, alg) =>
    alg === 'none' && host.metadata[`${endpoint}_endpoint_auth_signing_alg_values_supported`] !== undefined
      ? '400 invalid_request'
      : refusedAt(endpoint, host),
  attempt: (host, alg) => callOf(host, endpoint, host.gallery, assertionBy(host, alg)),
})

const refusedAt = (endpoint: Endpoint, host: Host) =>
  host.metadata[`${endpoint}_endpoint`] === undefined ? ofHost : '401 invalid_client'

/** An endpoint by the answer to a request without content. */
const endpointAt = (path: string, good: string, content: Presented = {}): Exercise => ({
  known: ({ issuer }) => [issuer + path],
  good,
  refused: ofHost,
  attempt: async ({ flow }, url) =>
    outcome(await flow.submit(new URL(url).pathname, content.fields ?? {}, 'alice', content.headers)),
})

const foreign = Object.entries(registries.endpointPaths).map(([name, path]): [string, Exercise] => [
  name,
  endpointAt(path, 'nothing that this suite has'),
])

/** A pushed request that its owner approves. */
const pushing: Exercise = {
  ...endpointAt('/par', 'code'),
  async attempt(host, url) {
    const { flow, gallery } = host
    const fields = { ...authorizationRequest(gallery), ...readingAt(host) }
    const response = await flow.request(gallery, fields, new URL(url).pathname)
    if (response.status !== 201) return outcome(response)
    const { request_uri } = response.body
    const page = await flow.ask({ client_id: fields.client_id, request_uri }, 'alice')
    return answerIn(await flow.decide(page, 'approve', 'alice')).parameters.has('code') ? 'code' : 'no code'
  },
}

const profile = 'urn:ietf:params:oauth:grant-profile:id-jag'

/** How clients use each member of the metadata that this suite, or a host in these tests, may write. */
export const exercises: ReadonlyMap<string, Exercise> = new Map<string, Exercise>([
  ...foreign,
  ...signedExercises,
  ['authorization_endpoint', endpointAt('/authorize', 'page 400 invalid_request')],
  ['token_endpoint', endpointAt('/token', '401 invalid_client')],
  ['revocation_endpoint', endpointAt('/revoke', '401 invalid_client')],
  ['introspection_endpoint', endpointAt('/introspect', '401 invalid_client')],
  ['pushed_authorization_request_endpoint', pushing],
  [
    'require_pushed_authorization_requests',
    {
      known: ['true'],
      good: 'page 400 invalid_request',
      refused: unlessMissing('question'),
      attempt: async (host) =>
        outcome(await host.flow.ask({ ...authorizationRequest(host.book), ...readingAt(host) }, 'alice')),
    },
  ],
  [
    'whoami_endpoint',
    {
      ...endpointAt('/whoami', '401 invalid_client'),
      attempt: async ({ flow }, url) => outcome(await flow.open(new URL(url).pathname)),
    },
  ],
  [
    'device_authorization_endpoint',
    {
      ...endpointAt('/device_authorization', 'a code'),
      async attempt(host, url) {
        const response = await host.flow.request(host.gallery, readingAt(host), new URL(url).pathname)
        return response.body.device_code === undefined ? outcome(response) : 'a code'
      },
    },
  ],
  [
    'registration_endpoint',
    {
      ...endpointAt('/register', '201'),
      async attempt({ app }, url) {
        const response = await request(app).post(new URL(url).pathname).send(notesApp)
        return isOfHost(response) ? ofHost : String(response.status)
      },
    },
  ],
  [
    'scopes_supported',
    {
      known: ['photos:read', 'photos:print', 'reports:write', 'chat', ...registries.scopes],
      good: 'passes its guard',
      refused: '400 invalid_scope',
      async attempt(host, scope) {
        // A server that lists it ignores it, beside another one.
        const isIgnored = scope === 'offline_access'
        const right = isIgnored ? reading : scope
        const text = isIgnored ? `${reading} ${scope}` : scope
        const asked = { grant_type: 'client_credentials', scope: text, resource: host.resourceOf(right) }
        const response = await host.flow.request(host.gallery, asked)
        if (response.status !== 200) return outcome(response)
        const { access_token, scope: granted } = response.body
        const headers = { Authorization: `Bearer ${access_token}` }
        const { status } = await host.flow.open(guardedPath(right), undefined, headers)
        return status === 200 && granted === right ? 'passes its guard' : `${status} with ${granted}`
      },
    },
  ],
  [
    'response_types_supported',
    {
      known: registries.responseTypes,
      good: 'answered',
      refused: unlessMissing('unsupported_response_type'),
      async attempt(host, response_type) {
        const answer = await authorization(host, { response_type })
        if (typeof answer === 'string') return answer
        const expected = response_type.replace('token', 'access_token').split(' ')
        return expected.every((name) => answer.parameters.has(name)) ? 'answered' : 'incomplete'
      },
    },
  ],
  [
    'response_modes_supported',
    {
      known: registries.responseModes,
      good: 'answered',
      refused: unlessMissing('invalid_request'),
      async attempt(host, response_mode) {
        const answer = await authorization(host, { response_mode })
        if (typeof answer === 'string') return answer
        return answer.mode === response_mode ? 'answered' : `answered by ${answer.mode}`
      },
    },
  ],
  [
    'prompt_values_supported',
    {
      known: registries.promptValues,
      good: 'served',
      // OpenID Connect Core 3.1.2.1: as if the request had not named it.
      refused: unlessMissing('served'),
      async attempt(host, prompt) {
        const asked = { ...authorizationRequest(host.book), ...readingAt(host), prompt }
        const answer = await host.flow.ask(asked, 'alice')
        if (isOfHost(answer)) return ofHost
        if (answer.status === 200) return 'served'
        const location = new URL(answer.get('Location') ?? '', host.issuer)
        if (location.pathname === '/login') return 'served'
        const error = new URLSearchParams(location.search || location.hash.slice(1)).get('error')
        return error === 'consent_required' || error === 'interaction_required' ? 'served' : `${error}`
      },
    },
  ],
  [
    'acr_values_supported',
    {
      known: ['urn:example:gold', 'urn:example:silver', 'mfa', '1'],
      good: 'the login is asked for it',
      refused: (host) =>
        host.metadata['acr_values_supported'] === undefined
          ? unlessMissing('not binding')(host)
          : 'unmet_authentication_requirements',
      async attempt(host, acr_values) {
        const asked = { ...authorizationRequest(host.book), ...readingAt(host), acr_values }
        const answer = await host.flow.ask(asked, 'alice')
        if (isOfHost(answer)) return ofHost
        if (answer.status === 200) return 'not binding'
        const location = new URL(answer.get('Location') ?? '', host.issuer)
        const isAsked = location.searchParams.get('acr_values') === acr_values
        return isAsked ? 'the login is asked for it' : String(location.searchParams.get('error'))
      },
    },
  ],
  [
    'grant_types_supported',
    {
      known: registries.grantTypes,
      good: 'tokens',
      refused: '400 unsupported_grant_type',
      attempt: (host, name) => (name === 'implicit' ? implicitly(host) : tokenBy(host, name)),
    },
  ],
  ...(
    [
      'token',
      'revocation',
      'introspection',
      'whoami',
      'device_authorization',
      'pushed_authorization_request',
    ] as const
  ).flatMap((endpoint): [string, Exercise][] => [
    [`${endpoint}_endpoint_auth_methods_supported`, authenticationAt(endpoint)],
    [`${endpoint}_endpoint_auth_signing_alg_values_supported`, signatureAt(endpoint)],
  ]),
  [
    'code_challenge_methods_supported',
    {
      known: registries.challengeMethods,
      good: 'tokens',
      refused: unlessMissing('invalid_request'),
      async attempt(host, code_challenge_method) {
        const code_challenge = code_challenge_method === 'S256' ? codeChallenge : codeVerifier
        const answer = await authorization(host, { code_challenge, code_challenge_method })
        if (typeof answer === 'string') return answer
        const code = answer.parameters.get('code') ?? ''
        return outcome(await host.flow.redeem(host.book, code))
      },
    },
  ],
  [
    'authorization_response_iss_parameter_supported',
    {
      known: ['true'],
      good: 'the issuer',
      refused: ofHost,
      async attempt(host) {
        const answer = await authorization(host, {})
        if (typeof answer === 'string') return answer
        const asked = { ...authorizationRequest(host.book), ...readingAt(host), scope: 'openid' }
        const failed = answerIn(await host.flow.ask(asked, 'alice'))
        const named = [answer, failed].map(({ parameters }) => parameters.get('iss'))
        return named.every((iss) => iss === host.issuer) ? 'the issuer' : `not the issuer: ${named.join(' ')}`
      },
    },
  ],
  [
    'client_id_metadata_document_supported',
    {
      known: ['true'],
      good: 'tokens',
      refused: unlessMissing('page 400 invalid_request'),
      async attempt(host) {
        const { client } = host.origin
        const asked = { ...authorizationRequest(client), ...readingAt(host) }
        const page = await host.flow.ask(asked, 'alice')
        if (isOfHost(page)) return ofHost
        if (page.status !== 200) return `page ${errorPageOf(page)}`
        return outcome(await host.flow.request(client, await approved(host, client)))
      },
    },
  ],
  [
    'authorization_grant_profiles_supported',
    {
      known: [profile],
      good: 'tokens',
      refused: ({ metadata }) =>
        valuesOf(metadata['grant_types_supported']).includes(`${urn}jwt-bearer`)
          ? '400 invalid_grant'
          : '400 unsupported_grant_type',
      attempt: async (host) =>
        outcome(
          await host.flow.request(host.gallery, {
            grant_type: `${urn}jwt-bearer`,
            ...(await identityAssertion(host)),
          }),
        ),
    },
  ],
  [
    'photo_formats_supported',
    {
      known: ['jpeg', 'raw'],
      good: 'answered',
      refused: unlessMissing('answered'),
      async attempt(host, photo_format) {
        const answer = await authorization(host, { photo_format })
        return typeof answer === 'string' ? answer : 'answered'
      },
    },
  ],
])
