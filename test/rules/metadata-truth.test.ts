import request from 'supertest'
import { extent } from '../support/extent'
import { authorizationRequest } from '../support/flows/flow'
import { fragmentOf, redirectionOf } from '../support/flows/redirection'
import { pathOf, photosApi, printApi } from '../support/flows/resources'
import { DocumentOrigin } from '../support/flows/document-origin'
import { type Exercise, exercises, valuesOf } from './metadata-truth/exercises'
import { type Host, metadataOf, ofHost, open, plans } from './metadata-truth/hosts'
import { registeredFor } from './metadata-truth/registered-methods'
import { documentOf, resourceExercises } from './metadata-truth/resource-documents'
import { authenticationMethods } from './metadata-truth/registries'

let origin: DocumentOrigin
beforeAll(async () => {
  origin = await DocumentOrigin.start()
})
afterAll(() => origin.stop())

const always = [
  'issuer',
  'token_endpoint',
  'revocation_endpoint',
  'introspection_endpoint',
  'scopes_supported',
  'response_types_supported',
  'grant_types_supported',
  'token_endpoint_auth_methods_supported',
  'revocation_endpoint_auth_methods_supported',
  'introspection_endpoint_auth_methods_supported',
]
const withOwners = [
  ...always,
  'authorization_endpoint',
  'response_modes_supported',
  'prompt_values_supported',
  'code_challenge_methods_supported',
  'authorization_response_iss_parameter_supported',
]
const withEverything = [
  ...withOwners,
  'registration_endpoint',
  'pushed_authorization_request_endpoint',
  'pushed_authorization_request_endpoint_auth_methods_supported',
  'pushed_authorization_request_endpoint_auth_signing_alg_values_supported',
  'whoami_endpoint',
  'whoami_endpoint_auth_methods_supported',
  'device_authorization_endpoint',
  'device_authorization_endpoint_auth_methods_supported',
  'device_authorization_endpoint_auth_signing_alg_values_supported',
  'token_endpoint_auth_signing_alg_values_supported',
  'revocation_endpoint_auth_signing_alg_values_supported',
  'introspection_endpoint_auth_signing_alg_values_supported',
  'client_id_metadata_document_supported',
  'photo_formats_supported',
  'acr_values_supported',
  'request_parameter_supported',
  'request_object_signing_alg_values_supported',
  'require_signed_request_object',
  'dpop_signing_alg_values_supported',
]

const servers = [
  ['everything', withEverything],
  ['everything, with identity assertions', [...withEverything, 'authorization_grant_profiles_supported']],
  ['mcp()', [...withOwners, 'client_id_metadata_document_supported']],
  ['nothing', withOwners],
  ['nothing, without resource owners', always],
  ['assertions, without resource owners', always],
  ['identity assertions, without resource owners', [...always, 'authorization_grant_profiles_supported']],
] as const

/** By default, those that show each offer of the others, too. */
const exercised = new Set<string>(
  extent(
    ['everything, with identity assertions', 'mcp()', 'nothing', 'assertions, without resource owners'],
    servers.map(([name]) => name),
  ),
)

describe.each(servers)('A server that has switched on %s', (name, members) => {
  let host: Host
  beforeAll(async () => {
    host = await open(plans[name], origin)
  })

  test('[META-2] lists these members, and no others', () => {
    expect(Object.keys(host.metadata).toSorted()).toEqual(members.toSorted())
  })

  test('[META-3, META-5] says the same at each well-known path', async () => {
    const { issuer, metadata, flow } = host
    expect(metadata['issuer']).toBe(issuer)
    const path = new URL(issuer).pathname.replace(/\/$/, '')
    for (const document of ['oauth-authorization-server', 'openid-configuration'])
      for (const place of [`/.well-known/${document}${path}`, `${path}/.well-known/${document}`])
        expect(await metadataOf(flow, place)).toEqual(metadata)
  })
})

describe.each(servers.filter(([name]) => exercised.has(name)))(
  'Of a server that has switched on %s',
  (name, members) => {
    let host: Host
    beforeAll(async () => {
      host = await open(plans[name], origin)
    })

    // `issuer` is no offer.
    const offers = members.filter((member) => member !== 'issuer')

    test.each([...new Set([...offers, ...exercises.keys()])])(
      '[META-2] each value of %s that is listed works, and each other one is refused',
      async (member) => {
        const exercise = exercises.get(member)
        if (exercise === undefined) throw new Error(`No exercise uses the member ${member}.`)
        const { found, expected } = await outcomesOf(exercise, host, valuesOf(host.metadata[member]))
        expect(found).toEqual(expected)
      },
    )
  },
)

async function outcomesOf(exercise: Exercise, host: Host, listed: readonly string[]) {
  const { known, good, refused } = exercise
  const found: Record<string, string> = {}
  const expected: Record<string, string> = {}
  for (const value of new Set([...listed, ...(typeof known === 'function' ? known(host) : known)])) {
    found[value] = await exercise.attempt(host, value)
    const otherwise = typeof refused === 'function' ? refused(host, value) : refused
    expected[value] = listed.includes(value) ? good : otherwise
  }
  return { found, expected }
}

describe('With everything on', () => {
  let host: Host
  beforeAll(async () => {
    host = await open(plans.everything, origin)
  })

  test('[META-2] a code may come in every mode, a token never in the query, and what is refused comes in the mode of the type', async () => {
    const asked = { ...authorizationRequest(host.book), scope: 'photos:read', resource: photosApi }
    const error = 'invalid_request'
    const ask = (bend: object) => host.flow.ask({ ...asked, ...bend }, 'alice')
    const byQuery = redirectionOf(await ask({ response_mode: 'fragment.jwt' }))
    expect(byQuery.parameters).toMatchObject({ error, state: asked.state, iss: host.issuer })
    const twice = redirectionOf(await ask({ response_mode: ['query', 'query'] }))
    expect(twice.parameters).toMatchObject({ error })
    for (const response_type of ['token', 'code token']) {
      const { parameters } = fragmentOf(await ask({ response_type, response_mode: 'query' }))
      expect(parameters).toMatchObject({ error, state: asked.state, iss: host.issuer })
      expect((await ask({ response_type, response_mode: 'fragment' })).status).toBe(200)
    }
  })

  test('[META-2] clients register for methods that are listed, use them, and get no others', async () => {
    const found: Record<string, string> = {}
    for (const method of authenticationMethods) found[method] = await registeredFor(host, method)
    const refused = '400 invalid_client_metadata'
    expect(found).toEqual({
      none: '200',
      client_secret_basic: '200',
      client_secret_post: '200',
      private_key_jwt: '200',
      client_secret_jwt: refused,
      tls_client_auth: refused,
      self_signed_tls_client_auth: refused,
    })
  })

  test.each([
    [photosApi, ['resource_name']],
    [printApi, []],
  ])(
    '[META-2] each value of the metadata of the resource %s works, and each other one is refused',
    async (uri, more) => {
      const document = await documentOf(host, uri)
      expect(document['resource']).toBe(uri)
      const members = resourceExercises(uri)
      expect(Object.keys(document).toSorted()).toEqual([...members.keys(), ...more].toSorted())
      for (const [member, exercise] of members) {
        const { found, expected } = await outcomesOf(exercise, host, valuesOf(document[member]))
        expect({ [member]: found }).toEqual({ [member]: expected })
      }
    },
  )

  test('[META-2] a challenge names the metadata of a resource that has one', async () => {
    const challengeAt = async (uri: string) =>
      (await request(host.app).get(String(pathOf[uri]))).get('WWW-Authenticate')
    const url = 'https://api.example/.well-known/oauth-protected-resource/photos'
    expect(await challengeAt(photosApi)).toContain(`resource_metadata="${url}"`)
  })
})

test.each(['nothing', 'nothing, without resource owners'] as const)(
  '[META-2] with %s on, the paths of plug-ins are those of the host, and no challenge names a document',
  async (name) => {
    const { app, flow } = await open(plans[name], origin)
    const paths = [
      '/register',
      '/register/client',
      '/whoami',
      '/device',
      '/device_authorization',
      '/par',
      '/.well-known/oauth-protected-resource',
    ]
    for (const path of [...paths, '/.well-known/oauth-protected-resource/photos'])
      for (const method of ['get', 'post', 'put', 'delete', 'options'] as const) {
        const { status, text } = await request(app)[method](path).set('Origin', 'https://app.example')
        expect([path, method, status, text]).toEqual([path, method, 404, ofHost])
      }
    expect((await flow.open(flow.paths.photos)).get('WWW-Authenticate')).toBe(
      'Bearer realm="oauth", scope="photos:read"',
    )
  },
)
