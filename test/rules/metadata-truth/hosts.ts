import { createHash } from 'node:crypto'
import express, { type Express } from 'express'
import { apiKey } from '../../../docs/examples/api-key'
import { codeToken } from '../../../docs/examples/code-token'
import { whoami } from '../../../docs/examples/whoami'
import {
  type AuthorizationServerOptions,
  type ClientRegistration,
  createAuthorizationServer,
  deviceAuthorization,
  dpop,
  type Extension,
  formPost,
  type GrantType,
  implicit,
  jwtBearer,
  mac,
  mcp,
  metadataDocuments,
  OAuthError,
  password,
  privateKeyJwt,
  type PrivateKeyJwtOptions,
  pushedAuthorizationRequests,
  requestObjects,
  saml2Bearer,
  stepUp,
  tokenExchange,
} from '../../../lib/index'
import { issuers } from '../../support/assertions/jwt'
import { canonicalOptions } from '../../support/flows/application'
import { bent, photoBook, photoPrint } from '../../support/flows/clients'
import { Clock } from '../../support/flows/clock'
import { deviceCode } from '../../support/flows/device-stage'
import type { DocumentOrigin } from '../../support/flows/document-origin'
import { Flow } from '../../support/flows/flow'
import { PasswordCheck } from '../../support/flows/password'
import { pathOf, photosApi, printApi, threeResources } from '../../support/flows/resources'
import { anyOwner } from '../../support/flows/token-exchange'
import { options as samlOptions } from '../../support/saml/grant'
import { clientKeys } from './client-assertions'

/** A server, and what its metadata says. */
export interface Host {
  readonly app: Express
  readonly flow: Flow
  readonly issuer: string
  readonly metadata: Readonly<Record<string, unknown>>
  /** A confidential client with every credential that the server takes, and every grant type. */
  readonly gallery: ReturnType<typeof galleryFor>
  /** A public client with every grant type that such a client may have. */
  readonly book: ReturnType<typeof bookFor>
  readonly origin: DocumentOrigin
  /** The resource that has the scope; undefined on a server without resources. */
  readonly resourceOf: (scope: string) => string | undefined
  /** Seconds since the epoch. */
  readonly now: () => number
}

type Options = Partial<AuthorizationServerOptions>

/** What a server has switched on. */
export interface Plan {
  readonly issuer: string
  readonly hasOwner: boolean
  readonly isFull: boolean
  readonly options: (origin: DocumentOrigin, clients: readonly ClientRegistration[]) => Options
  readonly grantTypes: readonly string[]
}

const builtIn = ['authorization_code', 'refresh_token', 'client_credentials']
const key = 'k'.repeat(43)
const everyScope = Object.keys(canonicalOptions.scopes).join(' ')

function galleryFor({ grantTypes, hasOwner, isFull }: Plan) {
  const credentials = {
    private_key_jwt: clientKeys,
    [apiKey.name]: createHash('sha256').update(key).digest('hex'),
  }
  const { registration, secret } = bent(photoPrint, {
    client_id: 'gallery',
    scope: everyScope,
    grant_types: grantTypes.filter(
      (name) => hasOwner || !['authorization_code', 'refresh_token'].includes(name),
    ),
    may_introspect: true,
    ...(isFull ? { credentials } : {}),
  })
  return { registration, secret: secret ?? '', apiKey: `ApiKey gallery.${key}` }
}

function bookFor({ hasOwner, isFull, grantTypes }: Plan) {
  const more = isFull ? { response_types: ['code', 'token', 'code token'] } : {}
  const forAnyClient = grantTypes.filter((name) => !builtIn.includes(name))
  const implied = isFull ? ['implicit', deviceCode] : []
  return bent(photoBook, {
    grant_types: hasOwner ? ['authorization_code', 'refresh_token', ...implied] : forAnyClient,
    ...(hasOwner ? more : { response_types: [] }),
  })
}

/** The values of an extension of the host, which the metadata lists. */
const photoFormats: Extension = {
  name: 'photo-formats',
  authorizationParameters: ['photo_format'],
  metadata: { photo_formats_supported: ['jpeg', 'raw'] },
  atAuthorizationRequest({ parameters }) {
    const format = parameters.get('photo_format')
    if (format === undefined || format === 'jpeg' || format === 'raw') return format
    throw new OAuthError('invalid_request', 'photo_format_unknown', 'The format is not known.')
  },
}

/** Every plug-in of the suite, and one of each kind of plug-in of a host. */
function everything(jwtGrant: GrantType, keys: PrivateKeyJwtOptions): Plan['options'] {
  return (origin, clients) => ({
    scopes: { ...canonicalOptions.scopes, chat: 'Chat in your name' },
    clients: metadataDocuments({ ...origin.reach, registered: clients }),
    clientAuthenticationMethods: [privateKeyJwt(keys), apiKey],
    grantTypes: fullGrants(jwtGrant),
    responseTypes: [implicit(), codeToken],
    tokenTypes: [mac({ hosts: ['api.example.com'] })],
    extensions: [photoFormats],
    plugIns: [
      stepUp({ acrValues: ['urn:example:gold', 'urn:example:silver'] }),
      deviceAuthorization(),
      pushedAuthorizationRequests(),
      requestObjects(),
      formPost(),
      dpop({ baseUrl: 'http://localhost' }),
    ],
    endpoints: [whoami],
    dynamicRegistration: {},
    cors: { origins: ['https://app.example'] },
    implies: { 'photos:print': ['photos:read'] },
    resources: threeResources,
    defaultResource: printApi,
    guards: { realm: 'photos', authInfo: true, cors: true },
    pkce: 'all',
    redirectUris: 'https or loopback',
  })
}

const fullGrants = (jwtGrant: GrantType) => [
  password({ verify: new PasswordCheck().verify }),
  jwtGrant,
  saml2Bearer(samlOptions),
  tokenExchange({ policy: anyOwner }),
]

const assertions = { issuers, resourceOwner: () => 'alice' }

function full(issuer: string, jwtGrant: GrantType, keys: PrivateKeyJwtOptions = {}): Plan {
  const grantTypes = [...builtIn, ...fullGrants(jwtGrant).map(({ name }) => name), deviceCode]
  return { issuer, hasOwner: true, isFull: true, grantTypes, options: everything(jwtGrant, keys) }
}

const bare = (hasOwner: boolean): Plan => ({
  issuer: 'http://localhost',
  hasOwner,
  isFull: false,
  grantTypes: builtIn,
  options: (_origin, clients) => ({ clients }),
})

function withoutOwners(jwtGrant: GrantType): Plan {
  return {
    ...bare(false),
    grantTypes: [...builtIn, jwtGrant.name],
    options: (_origin, clients) => ({ clients, grantTypes: [jwtGrant] }),
  }
}

const identityAssertions = jwtBearer({ ...assertions, profile: 'id-jag' })

export const plans = {
  // Both kinds of JWT assertions have one grant type, so no server takes both.
  everything: full(
    'http://localhost/oauth',
    jwtBearer({ ...assertions, audience: 'http://localhost/oauth' }),
  ),
  'everything, with identity assertions': full('http://localhost', identityAssertions, {
    algorithms: ['ES256', 'PS384'],
  }),
  'mcp()': {
    ...bare(true),
    issuer: 'http://localhost/mcp-login',
    options: (origin, clients) =>
      mcp({ resource: photosApi, scopes: canonicalOptions.scopes, clients, ...origin.reach }),
  },
  nothing: bare(true),
  'nothing, without resource owners': bare(false),
  'assertions, without resource owners': withoutOwners(
    jwtBearer({ ...assertions, audience: 'http://localhost' }),
  ),
  'identity assertions, without resource owners': withoutOwners(identityAssertions),
} satisfies Readonly<Record<string, Plan>>

/** What the host itself says to a request that nothing before it answers. */
export const ofHost = '404 of the host'

/** Where a guard asks for the scope. */
export const guardedPath = (scope: string) => `/guarded/${scope.replace(':', '/')}`

/** Opens a server, and reads its metadata. */
export async function open(plan: Plan, origin: DocumentOrigin): Promise<Host> {
  const { issuer, hasOwner } = plan
  const clock = new Clock()
  const [gallery, book] = [galleryFor(plan), bookFor(plan)]
  const { resourceOwner, ...canonical } = canonicalOptions
  const options = {
    ...canonical,
    ...(hasOwner ? { resourceOwner } : {}),
    clock: clock.read,
    ...plan.options(origin, [gallery.registration, book.registration]),
    issuer,
  }
  const oauth = createAuthorizationServer(options)
  const mount = new URL(issuer).pathname.replace(/\/$/, '')
  const app = express()
  app.use(oauth.metadata()).use(`${mount}/`, oauth.router())
  const resources = Object.entries(options.resources ?? {})
  const resourceOf = (scope: string) => resources.find(([, { scopes }]) => scopes.includes(scope))?.[0]
  for (const scope of Object.keys(canonical.scopes)) {
    const resource = resourceOf(scope)
    const guard = oauth.bearerGuard(scope, resource === undefined ? {} : { resource })
    app.all(guardedPath(scope), guard, (request, response) => void response.json(request.oauth))
  }
  for (const [resource] of resources) {
    if (resource.startsWith('https:')) app.use(oauth.protectedResource(resource))
    app.all(String(pathOf[resource]), oauth.bearerGuard({ resource }), (_request, response) => {
      response.send('in')
    })
  }
  app.use((_request, response) => void response.status(404).send(ofHost))
  const paths = {
    authorize: `${mount}/authorize`,
    token: `${mount}/token`,
    revoke: `${mount}/revoke`,
    introspect: `${mount}/introspect`,
    photos: guardedPath('photos:read'),
  }
  const flow = new Flow(app, paths)
  const now = () => Math.floor(clock.read() / 1000)
  const metadata = await metadataOf(flow, `/.well-known/oauth-authorization-server${mount}`)
  return { app, flow, issuer, metadata, gallery, book, origin, resourceOf, now }
}

export async function metadataOf(flow: Flow, path: string): Promise<Host['metadata']> {
  const response = await flow.open(path)
  if (response.status !== 200) throw new Error(`No metadata at ${path}: ${response.status}`)
  return response.body
}
