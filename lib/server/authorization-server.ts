import type { ErrorRequestHandler, RequestHandler } from 'express'
import type { AuthorizationServerEvents } from '../audit/events'
import type { AuthorizationServerOptions } from '../config/options'
import { resolveOptions } from '../config/resolve-options'
import { connectedApplications } from '../connected-applications/connected-applications'
import { authorizationEndpoint } from '../http/authorization-middleware'
import { bearerGuard, type BearerGuard } from '../http/bearer-guard'
import { corsByPath } from '../http/endpoint-cors'
import { clientAuthentication, clientAuthenticationErrors } from '../http/endpoint-middleware'
import { metadataAt, missingMetadata } from '../http/metadata-document'
import { pageEndpoint } from '../http/page-endpoint'
import {
  protectedResource,
  type ProtectedResourcePart,
  resourcesExpectation,
} from '../http/protected-resource'
import { MountedParts, mountedUncalled, part, passWatch, router } from '../http/router'
import { metadataUrlOf } from '../endpoints/protected-resource-metadata'
import { wellKnownBelowIssuer, wellKnownPaths } from '../endpoints/server-metadata'
import type { Resources } from '../extensions/resource-indicators/resources'
import type { ClientStrategy } from '../client-authentication/strategies'
import { ConfigurationError } from '../primitives/configuration-error'
import { type ClientRegistrar, clientRegistrar } from '../clients/client-registrar'
import { selfRegistered } from '../clients/dynamic-registration/dynamic-clients'
import { letMint } from '../protocol/test-door'
import { type WiredEndpoint, wireEndpoints } from './endpoints'
import type { ServerContext } from '../config/settings'
import { entryReader } from '../connected-applications/gone-entries'
import { hostRevocation, clientRevocation } from '../connected-applications/revocation'
import { type OwnerAuthorizations, ownerAuthorizations } from '../connected-applications/owner-authorizations'
import { createServerContext } from './create-context'
import { type Lifecycle, lifecycleOf } from './lifecycle'
import { wireMetadata } from './wire-metadata'

/** The middlewares of one route: the endpoint, and what handles errors of middlewares before it. */
type EndpointPart = () => (RequestHandler | ErrorRequestHandler)[]

/** An authorization server, as parts that an Express application mounts. */
export interface AuthorizationServer extends ClientRegistrar, Lifecycle {
  /** All endpoints at their paths: `app.use(oauth.router())`, or at the path of the issuer. */
  router(): RequestHandler
  /**
   * The authorization endpoint (RFC 6749 3.1) with its consent page, at one path for `GET` and `POST`.
   *
   * @throws ConfigurationError without the option `resourceOwner`.
   */
  authorize(): RequestHandler
  /**
   * Authenticates clients (RFC 6749 2.3) before the token, revocation and introspection endpoints. For CORS,
   * it finds the endpoint of a request by its configured path.
   */
  clientAuthentication(): RequestHandler
  /**
   * The token endpoint (RFC 6749 3.2), after client authentication, by `app.all`: browsers send `OPTIONS`
   * before a script of another origin may call it.
   */
  readonly token: EndpointPart
  /** The revocation endpoint (RFC 7009), as the token endpoint. */
  readonly revocation: EndpointPart
  /**
   * The introspection endpoint (RFC 7662), for clients with `may_introspect`, after client authentication.
   */
  readonly introspection: EndpointPart
  /**
   * One endpoint by its name, for a path of the host: `app.get('/me', oauth.endpoint('whoami'))`.
   * Authenticates clients, unless one of {@link strategies} has done so.
   *
   * @throws ConfigurationError if no endpoint has this name.
   */
  endpoint(name: string): ReturnType<EndpointPart>
  /**
   * Metadata (RFC 8414) at every well-known path of the issuer: `app.use(oauth.metadata())` at the root of
   * the host. Only an issuer with a path needs it: else the router has all well-known paths.
   */
  metadata(): RequestHandler
  /** Makes a guard, which sets `req.oauth`: `app.get('/photos', oauth.bearerGuard('photos:read'), …)`. */
  readonly bearerGuard: BearerGuard
  /**
   * The metadata of a resource of the option `resources` (RFC 9728), by which clients find the authorization
   * server: `app.use(oauth.protectedResource('https://api.example.com/mcp'))` at the root of the host of the
   * resource, once for each.
   */
  readonly protectedResource: ProtectedResourcePart
  /** The methods of client authentication, for a Passport instance of the host. */
  readonly strategies: readonly ClientStrategy[]
  /**
   * Revokes an authorization. Resolves once every code and token of it is void in the store. A guard of
   * another process with a cache follows as soon as Redis notifies it, within one second at most.
   *
   * @throws OAuthError `temporarily_unavailable` if the store fails.
   */
  revoke(authorizationId: string): Promise<void>
  /** Lists and ends what owners approved, with the option `authorizations`. */
  readonly authorizations: OwnerAuthorizations
  /** Approvals, issued tokens, revocations, refusals and failures: see `docs/events.md`. */
  readonly events: AuthorizationServerEvents
}

/**
 * Creates an authorization server.
 *
 * @throws ConfigurationError that lists every mistake in the options.
 */
export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const settings = resolveOptions(options)
  const context = createServerContext(settings)
  settings.plugIns.start(context)
  const { audit, requests } = context
  const readEntries = entryReader(context)
  const authorizations = ownerAuthorizations(context, readEntries)
  const allPages = [...settings.pages, ...connectedApplications(context, authorizations, readEntries)]
  const pages = new Map(allPages.map((page) => [page.name, page]))
  const endpoints = wireEndpoints(context)
  const { table } = endpoints
  const { strategies } = context
  const metadata = wireMetadata(context, endpoints)
  const metadataPaths = wellKnownPaths(settings.mount, resourcePaths(settings.resources))
  const mountedParts = new MountedParts()
  const notePassed = process.env['NODE_ENV'] === 'production' ? undefined : passWatch()
  const endpointNamed = (name: string): WiredEndpoint => {
    const endpoint = table.get(name)
    if (endpoint !== undefined) return endpoint
    throw new ConfigurationError('oauth.endpoint() cannot work:', [
      {
        path: 'name',
        message: `is "${name}"; the endpoints are ${[...table.keys(), ...pages.keys()].join(', ')}.`,
      },
    ])
  }
  const mountedNamed = (name: string) => {
    const { endpoint, mounted } = endpointNamed(name)
    mountedParts.expectClientAuthentication(name)
    return [mounted, clientAuthenticationErrors(context, endpoint)]
  }
  const whole = () => {
    const routes = new Map<string, RequestHandler>()
    // An issuer with a path has the rest at the root of the host, by `metadata()`.
    for (const path of settings.mount === '' ? metadataPaths : wellKnownBelowIssuer)
      routes.set(path, metadata)
    for (const { endpoint, whole: middleware } of table.values()) routes.set(endpoint.path, middleware)
    if (settings.resourceOwner !== undefined)
      routes.set(settings.authorizationPath, authorizationEndpoint(context))
    for (const page of pages.values()) routes.set(page.path, pageEndpoint(context, page))
    const missing = missingMetadata(wellKnownBelowIssuer, settings.cors)
    return router(routes, settings.mount, missing, notePassed)
  }
  const server: AuthorizationServer = {
    router: part('router', whole),
    authorize: part('authorize', () => {
      if (settings.resourceOwner === undefined) throw withoutResourceOwner()
      return authorizationEndpoint(context)
    }),
    clientAuthentication: part('clientAuthentication', () => {
      mountedParts.noteClientAuthentication()
      const rows = [...table.values()].map(({ endpoint }) => endpoint)
      return clientAuthentication(context, endpointNamed('token').endpoint, corsByPath(context, rows))
    }),
    token: part('token', () => mountedNamed('token')),
    revocation: part('revocation', () => mountedNamed('revocation')),
    introspection: part('introspection', () => mountedNamed('introspection')),
    endpoint: (name: string, ...more: readonly unknown[]) => {
      if (more.length > 0) throw mountedUncalled('endpoint', "endpoint('whoami')")
      const page = pages.get(name)
      if (page !== undefined) return [pageEndpoint(context, page)]
      const { endpoint, single } = endpointNamed(name)
      return [single, clientAuthenticationErrors(context, endpoint)]
    },
    metadata: part('metadata', () => metadataAt(metadataPaths, metadata)),
    bearerGuard: bearerGuard(context),
    protectedResource: protectedResource(settings, resourcesExpectation),
    get strategies() {
      mountedParts.noteClientAuthentication()
      return strategies
    },
    revoke: hostRevocation(context),
    authorizations,
    events: audit.events,
    ...wireRegistration(context),
    ...lifecycleOf({ ...settings, store: settings.givenStore, readiness: readinessOf(context), requests }),
  }
  letMint(server, endpoints.mint)
  return server
}

const readinessOf = ({ settings: { plugIns }, store: { indexedSince } }: ServerContext) =>
  indexedSince === undefined ? plugIns.readiness : [...plugIns.readiness, indexedSince.readiness]

const withoutResourceOwner = () =>
  new ConfigurationError('oauth.authorize() cannot work:', [
    { path: 'resourceOwner', message: 'is missing: it must be a function that returns who is logged in.' },
  ])

function wireRegistration(context: ServerContext): ClientRegistrar {
  const { settings, plugIns } = context
  const { clientRegistry, capabilities, resourceOwner, dynamicRegistration } = settings
  const offered = {
    ...capabilities,
    grantTypes: plugIns.offeredGrantTypes,
    responseTypes: resourceOwner === undefined ? [] : settings.responseTypes,
  }
  const revoke = clientRevocation(context)
  const ofStrangers =
    dynamicRegistration &&
    selfRegistered(
      dynamicRegistration.records,
      async (clientId) => revoke?.(clientId),
      dynamicRegistration.issuerDigest,
    )
  return clientRegistrar(clientRegistry, offered, settings.authorizations ? revoke : undefined, ofStrangers)
}

/** Paths of resources at which clients can look, without the root of a host. */
function resourcePaths(resources: Resources | undefined): readonly string[] {
  const known = resources?.all.filter(({ uri }) => metadataUrlOf(uri) !== undefined) ?? []
  return known.map(({ uri }) => new URL(uri).pathname).filter((path) => path !== '/')
}
