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
import { clientAuthentication, clientAuthenticationErrors } from '../http/endpoint'
import { metadataAt } from '../http/metadata'
import { mountedUncalled, part } from '../http/handler'
import { MountedParts, router } from '../http/router'
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

/** Middlewares of one route: the endpoint, and the answers to errors of middlewares before it. */
type EndpointPart = () => (RequestHandler | ErrorRequestHandler)[]

/** An authorization server, in parts that an Express application mounts. */
export interface AuthorizationServer extends ClientRegistrar, Lifecycle {
  /** All endpoints at their configured paths: `app.use(oauth.router())`, below the issuer's path if it has one. */
  router(): RequestHandler
  /** The authorization endpoint (RFC 6749 3.1) with its consent page, for `GET` and `POST` at one path. */
  authorize(): RequestHandler
  /** Client authentication (RFC 6749 2.3): goes before the token, revocation and introspection endpoints. */
  clientAuthentication(): RequestHandler
  /** The token endpoint (RFC 6749 3.2), behind client authentication. */
  readonly token: EndpointPart
  /** The revocation endpoint (RFC 7009), behind client authentication. */
  readonly revocation: EndpointPart
  /** The introspection endpoint (RFC 7662), behind client authentication; for clients with `may_introspect`. */
  readonly introspection: EndpointPart
  /**
   * One endpoint by its name, for a path of the host: `app.get('/me', oauth.endpoint('whoami'))`. It authenticates its
   * clients, unless a strategy of {@link strategies} before it has done so.
   *
   * @throws ConfigurationError when there is no such endpoint.
   */
  endpoint(name: string): ReturnType<EndpointPart>
  /**
   * Metadata (RFC 8414) at every well-known path of the issuer: `app.use(oauth.metadata())` at the root of the host. An
   * issuer without a path does not need it, because there the router serves them all.
   */
  metadata(): RequestHandler
  /** Guards a route: `app.get('/photos', oauth.bearerGuard('photos:read'), …)`. Sets `req.oauth`. */
  readonly bearerGuard: BearerGuard
  /** The methods of client authentication, for a Passport instance of the host's own. */
  readonly strategies: readonly ClientStrategy[]
  /**
   * Revokes an authorization: when this resolves, its record is gone from the store, and with it every code and token
   * that descends from it. A guard of another process that has a cache refuses them as soon as Redis has told it,
   * within a second at most.
   */
  revoke(authorizationId: string): Promise<void>
  /** What was approved, issued, revoked and refused, and what broke: `docs/events.md` explains each event. */
  readonly events: AuthorizationServerEvents
}

/**
 * Makes an authorization server.
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
      return clientAuthentication(endpointNamed('token').http)
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
      audit,
      requests,
      errorUri: settings.errorUri,
    }),
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

/** Registration within what this server offers. */
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

/** Revokes an authorization in the host's own name. */
export function hostRevocation({
  store,
  audit,
  issueContext,
}: Pick<ServerContext, 'store' | 'audit' | 'issueContext'>): (authorizationId: string) => Promise<void> {
  return async (authorizationId) => {
    // Read for the event, and for a one-time use that must stay used. A record that cannot be read is revoked all the same.
    const read = await store.find(authorizationId).catch(() => 'unreadable' as const)
    // Where this issuer has nothing, the record of another one may stand, which is no business of this host.
    if (read === undefined && (await confirmAbsence(store, authorizationId))) return
    const stored = read === 'unreadable' ? undefined : read?.authorization
    if (isUsedOnce(stored))
      await commit(store, authorizationId, () => deleteRecord(undefined), issueContext().random)
    else await end(store, authorizationId)
    const found = unlessRemains(stored)
    if (found !== undefined || read === 'unreadable') audit.reportHostRevocation(authorizationId, found)
  }
}
