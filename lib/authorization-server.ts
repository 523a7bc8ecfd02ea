import type { ErrorRequestHandler, RequestHandler } from 'express'
import { authorizationEndpoint } from './express/authorize'
import { bearerGuard, type BearerGuard } from './express/bearer-guard'
import { clientAuthentication, clientAuthenticationErrors } from './express/client-authentication'
import type { ClientEndpointName } from './express/client-post'
import type { AuthorizationServerEvents } from './express/events'
import { metadataAt } from './express/metadata'
import { MountedParts, part } from './express/mounting'
import { router } from './express/router'
import { wellKnownBelowIssuer, wellKnownPaths } from './metadata/well-known'
import type { AuthorizationServerOptions } from './options'
import type { ClientStrategy } from './passport/client-strategy'
import type { ClientRegistrar } from './registration/client-registrar'
import { resolveOptions } from './resolve-options'
import { letMint } from './testing-door'
import { wireAuthorization, withoutResourceOwner } from './wire-authorization'
import { wireClientEndpoints } from './wire-client-endpoints'
import { lifecycleOf, type Lifecycle } from './wire-lifecycle'
import { guardByStore } from './wire-guard'
import { hostRevocation } from './wire-host-revocation'
import { wireMetadata } from './wire-metadata'
import { wireRegistration } from './wire-registration'
import { createServerContext } from './wiring'

/** Middlewares of one route: the endpoint, and what answers the errors that came before it. */
type ClientEndpointPart = () => (RequestHandler | ErrorRequestHandler)[]

/** An authorization server, in parts that an Express application mounts. */
export interface AuthorizationServer extends ClientRegistrar, Lifecycle {
  /** All endpoints at their configured paths: `app.use(oauth.router())`, below the issuer's path if it has one. */
  router(): RequestHandler
  /** The authorization endpoint (RFC 6749 3.1) with its consent page, for `GET` and `POST` at one path. */
  authorize(): RequestHandler
  /** Client authentication (RFC 6749 2.3): goes before the token, revocation and introspection endpoints. */
  clientAuthentication(): RequestHandler
  /** The token endpoint (RFC 6749 3.2), behind client authentication. */
  readonly token: ClientEndpointPart
  /** The revocation endpoint (RFC 7009), behind client authentication. */
  readonly revocation: ClientEndpointPart
  /** The introspection endpoint (RFC 7662), behind client authentication; for clients with `may_introspect`. */
  readonly introspection: ClientEndpointPart
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
  const { store, counters, context, reports, requests } = wiring
  const authorization = wireAuthorization(wiring)
  const clientEndpoints = wireClientEndpoints(wiring)
  const { verification, strategies, token, revocation, introspection } = clientEndpoints
  const metadata = wireMetadata(settings, clientEndpoints)
  const mounted = new MountedParts()
  const clientEndpoint = (name: ClientEndpointName): ClientEndpointPart =>
    part(name, () => {
      mounted.expectClientAuthentication(name)
      const { edge, handler } = clientEndpoints[name]
      return [handler, clientAuthenticationErrors(edge)]
    })
  const whole = () => {
    const routes = new Map<string, readonly RequestHandler[]>()
    for (const path of wellKnownBelowIssuer) routes.set(path, [metadata])
    for (const { path, whole: endpoint } of [token, revocation, introspection]) routes.set(path, [endpoint])
    if (authorization !== undefined)
      routes.set(settings.authorizationPath, [authorizationEndpoint(authorization)])
    return router(routes, settings.mount)
  }
  const server: AuthorizationServer = {
    router: part('router', whole),
    authorize: part('authorize', () => authorizationEndpoint(authorization ?? withoutResourceOwner())),
    clientAuthentication: part('clientAuthentication', () => {
      mounted.noteClientAuthentication()
      return clientAuthentication(token.edge, verification)
    }),
    token: clientEndpoint('token'),
    revocation: clientEndpoint('revocation'),
    introspection: clientEndpoint('introspection'),
    metadata: part('metadata', () => metadataAt(wellKnownPaths(settings.mount), metadata)),
    bearerGuard: bearerGuard({
      ...guardByStore(store, counters),
      tokenTypes: settings.tokenTypes,
      now: () => context().now,
      knownScope: [...settings.scopes.keys()],
      reports,
      requests,
      errorUri: settings.errorUri,
    }),
    get strategies() {
      mounted.noteClientAuthentication()
      return strategies
    },
    revoke: hostRevocation(wiring),
    events: reports.events,
    ...wireRegistration(settings, clientEndpoints),
    ...lifecycleOf({ ...settings, requests }),
  }
  letMint(server, clientEndpoints.mint)
  return server
}
