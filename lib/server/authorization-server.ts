import type { ErrorRequestHandler, RequestHandler } from 'express'
import type { AuthorizationServerEvents } from '../audit/events'
import { commit, end } from '../authorization/commit'
import { isUsedOnce, unlessRemains } from '../authorization/one-time-use'
import { deleteRecord } from '../authorization/transition'
import type { AuthorizationServerOptions, ServerSettings } from '../config/options'
import { offeredGrantTypes } from '../config/plug-ins'
import { resolveOptions } from '../config/resolve-options'
import { authorizationEndpoint } from '../http/authorization-endpoint'
import { bearerGuard, type BearerGuard } from '../http/bearer-guard'
import { corsByPath } from '../http/cors-by-path'
import { clientAuthentication, clientAuthenticationErrors } from '../http/endpoint'
import { metadataAt } from '../http/metadata'
import { protectedResource, type ProtectedResourcePart, resourcesCure } from '../http/protected-resource'
import { MountedParts, mountedUncalled, part, router } from '../http/router'
import { wellKnownBelowIssuer, wellKnownPaths } from '../metadata/server-metadata'
import type { ClientStrategy } from '../passport/strategies'
import { ConfigurationError } from '../protocol/configuration'
import { type ClientRegistrar, clientRegistrar } from '../registration/client-registrar'
import { confirmAbsence } from '../stores/authorization-store'
import { clientsWithDeadline } from '../stores/deadline'
import { letMint } from '../audit/testing-door'
import { wireAuthorization, withoutResourceOwner } from './authorization-endpoint'
import { guardByStore } from './bearer-guard'
import { type Endpoints, type WiredEndpoint, wireEndpoints } from './endpoints'
import { createServerContext, type ServerContext } from './context'
import { type Lifecycle, lifecycleOf } from './lifecycle'
import { wireMetadata } from './metadata'

/** Makes the middlewares of one route: the endpoint, and the handler for errors of middlewares before the endpoint. */
type EndpointPart = () => (RequestHandler | ErrorRequestHandler)[]

/** An authorization server, as parts that an Express application mounts. */
export interface AuthorizationServer extends ClientRegistrar, Lifecycle {
  /**
   * All endpoints at their configured paths: `app.use(oauth.router())`. If the issuer has a path, mount the router at
   * that path.
   */
  router(): RequestHandler
  /**
   * The authorization endpoint (RFC 6749 3.1) with its consent page. Mount it at one path for both `GET` and `POST`.
   *
   * @throws ConfigurationError without the option `resourceOwner`.
   */
  authorize(): RequestHandler
  /**
   * Authenticates clients (RFC 6749 2.3). Mount this middleware before the token, revocation and introspection
   * endpoints. For CORS, it finds the endpoint of a request by its configured path.
   */
  clientAuthentication(): RequestHandler
  /**
   * The token endpoint (RFC 6749 3.2). Mount it after client authentication, with `app.all`: browsers send `OPTIONS`
   * before a script of another origin may call it.
   */
  readonly token: EndpointPart
  /** The revocation endpoint (RFC 7009). Mount it as the token endpoint. */
  readonly revocation: EndpointPart
  /** The introspection endpoint (RFC 7662), for clients with `may_introspect`. Mount it after client authentication. */
  readonly introspection: EndpointPart
  /**
   * One endpoint by its name, for a path of the host: `app.get('/me', oauth.endpoint('whoami'))`. The endpoint
   * authenticates its clients, unless a strategy of {@link strategies} before it has done so.
   *
   * @throws ConfigurationError if no endpoint has this name.
   */
  endpoint(name: string): ReturnType<EndpointPart>
  /**
   * Metadata (RFC 8414) at every well-known path of the issuer: mount `app.use(oauth.metadata())` at the root of the
   * host. An issuer without a path does not need this part, because the router then serves all well-known paths.
   */
  metadata(): RequestHandler
  /**
   * Makes a guard for a route: `app.get('/photos', oauth.bearerGuard('photos:read'), …)`. The guard sets `req.oauth`.
   */
  readonly bearerGuard: BearerGuard
  /**
   * The metadata of a resource of the option `resources` (RFC 9728): mount
   * `app.use(oauth.protectedResource('https://api.example.com/mcp'))` at the root of the host of the resource. Clients
   * find the authorization server there. A host with several resources mounts this part for each.
   */
  readonly protectedResource: ProtectedResourcePart
  /** The methods of client authentication as Passport strategies, for a Passport instance of the host. */
  readonly strategies: readonly ClientStrategy[]
  /**
   * Revokes an authorization. Resolves once every code and token that descends from the authorization is void in the
   * store. A guard of another process with a cache refuses the tokens as soon as Redis notifies the guard, within one
   * second at most.
   *
   * @throws OAuthError `temporarily_unavailable` if the store fails.
   */
  revoke(authorizationId: string): Promise<void>
  /**
   * The events of the server: approvals, issued tokens, revocations, refusals and failures. `docs/events.md` explains
   * each event.
   */
  readonly events: AuthorizationServerEvents
}

/**
 * Creates an authorization server.
 *
 * @throws ConfigurationError that lists every mistake in the options, each with its path and cure.
 */
export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const settings = resolveOptions(options)
  const wiring = createServerContext(settings)
  const { store, counters, issueContext, contexts, audit, requests } = wiring
  const authorization = wireAuthorization(wiring)
  const endpoints = wireEndpoints(wiring)
  const { strategies, table } = endpoints
  const metadata = wireMetadata(settings, endpoints)
  const mountedParts = new MountedParts()
  const endpointNamed = (name: string): WiredEndpoint => {
    const endpoint = table.get(name)
    if (endpoint !== undefined) return endpoint
    throw new ConfigurationError('oauth.endpoint() cannot work:', [
      { path: 'name', message: `is "${name}"; the endpoints are ${[...table.keys()].join(', ')}.` },
    ])
  }
  const mountedNamed = (name: string) => {
    const { http, mounted } = endpointNamed(name)
    mountedParts.expectClientAuthentication(name)
    return [mounted, clientAuthenticationErrors(http)]
  }
  const whole = () => {
    const routes = new Map<string, readonly RequestHandler[]>()
    for (const path of wellKnownBelowIssuer) routes.set(path, [metadata])
    for (const { http, whole: endpoint } of table.values()) routes.set(http.endpoint.path, [endpoint])
    if (authorization !== undefined)
      routes.set(settings.authorizationPath, [authorizationEndpoint(authorization)])
    return router(routes, settings.mount)
  }
  const server: AuthorizationServer = {
    router: part('router', whole),
    authorize: part('authorize', () => authorizationEndpoint(authorization ?? withoutResourceOwner())),
    clientAuthentication: part('clientAuthentication', () => {
      mountedParts.noteClientAuthentication()
      const all = [...table.values()].map(({ http }) => http)
      return clientAuthentication({ ...endpointNamed('token').http, cors: corsByPath(all, settings.mount) })
    }),
    token: part('token', () => mountedNamed('token')),
    revocation: part('revocation', () => mountedNamed('revocation')),
    introspection: part('introspection', () => mountedNamed('introspection')),
    endpoint: (name: string, ...more: readonly unknown[]) => {
      if (more.length > 0) throw mountedUncalled('endpoint', "endpoint('whoami')")
      const { http, single } = endpointNamed(name)
      return [single, clientAuthenticationErrors(http)]
    },
    metadata: part('metadata', () => metadataAt(wellKnownPaths(settings.mount), metadata)),
    bearerGuard: bearerGuard({
      ...guardByStore(store, counters),
      contexts,
      tokenTypes: settings.tokenTypes,
      extensions: settings.extensions,
      now: () => issueContext().now,
      knownScope: [...settings.scopes.keys()],
      resources: settings.resources,
      implied: settings.implied,
      guards: settings.guards,
      audit,
      requests,
      errorUri: settings.errorUri,
    }),
    protectedResource: protectedResource({ ...settings, cure: resourcesCure }),
    get strategies() {
      mountedParts.noteClientAuthentication()
      return strategies
    },
    revoke: hostRevocation(wiring),
    events: audit.events,
    ...wireRegistration(settings, endpoints),
    ...lifecycleOf({ ...settings, requests }),
  }
  letMint(server, endpoints.mint)
  return server
}

/** Registers clients with the values that this server offers. */
export function wireRegistration(settings: ServerSettings, { grantTypes }: Endpoints): ClientRegistrar {
  const { clientRegistry, capabilities, resourceOwner, storeDeadline } = settings
  const offered = {
    ...capabilities,
    grantTypes: offeredGrantTypes(settings, grantTypes),
    responseTypes: resourceOwner === undefined ? [] : settings.responseTypes,
  }
  const clients = clientRegistry && clientsWithDeadline(clientRegistry, storeDeadline)
  return clientRegistrar(clients, offered)
}

/** Revokes an authorization for the host. */
export function hostRevocation({
  store,
  audit,
  issueContext,
}: Pick<ServerContext, 'store' | 'audit' | 'issueContext'>): (authorizationId: string) => Promise<void> {
  return async (authorizationId) => {
    // The event needs the record, and a one-time use must stay used. If the store cannot read the record, the
    // revocation continues.
    const read = await store.find(authorizationId).catch(() => 'unreadable' as const)
    // Another issuer may have a record under this id. This host must not remove such a record.
    if (read === undefined && (await confirmAbsence(store, authorizationId))) return
    const stored = read === 'unreadable' ? undefined : read?.authorization
    if (isUsedOnce(stored))
      await commit(store, authorizationId, () => deleteRecord(undefined), issueContext().random)
    else await end(store, authorizationId)
    const found = unlessRemains(stored)
    if (found !== undefined || read === 'unreadable') audit.reportHostRevocation(authorizationId, found)
  }
}
