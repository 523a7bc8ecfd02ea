import type { ErrorRequestHandler, RequestHandler } from 'express'
import type { AuthorizationServerEvents } from '../audit/events'
import type { AuthorizationServerOptions } from '../config/options'
import { resolveOptions } from '../config/resolve-options'
import { connectedApplications } from '../connected-applications/connected-applications'
import { authorizationRow } from '../http/authorization-page'
import { bearerGuard, type BearerGuard } from '../http/bearer-guard'
import { clientAuthenticationErrors, corsByPath, endpointRow } from '../http/endpoint'
import { pageRow } from '../http/page'
import {
  metadataAt,
  missingMetadata,
  protectedResource,
  type ProtectedResourcePart,
} from '../http/metadata-document'
import { mountedUncalled, part, passWatch, router } from '../http/router'
import { authenticatorAtHost, served } from '../http/serve'
import { metadataUrlOf } from '../endpoints/protected-resource-metadata'
import { wellKnownBelowIssuer, wellKnownPaths } from '../endpoints/server-urls'
import type { Resources } from '../extensions/resource-indicators/resources'
import { type ClientStrategy, clientStrategy } from '../client-authentication/strategies'
import { ConfigurationError } from '../primitives/configuration-error'
import { type ClientRegistrar, clientRegistrar } from '../clients/registrar'
import { letMint } from '../protocol/test-door'
import { endpointsOf, minting } from './endpoints'
import {
  clientRevocation,
  hostRevocation,
  type OwnerAuthorizations,
  ownerAuthorizations,
} from '../connected-applications/owner-authorizations'
import { createServerContext, methodsIn, type ServerContext } from './create-context'
import { type Lifecycle, lifecycleOf } from './lifecycle'
import { wireMetadata } from './wire-metadata'

type EndpointPart = () => (RequestHandler | ErrorRequestHandler)[]

/** Parts that an Express application mounts. */
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
   * Authenticates clients (RFC 6749 2.3) before the endpoints do. For CORS, it finds the endpoint by its configured
   * path.
   */
  clientAuthentication(): RequestHandler
  /**
   * The token endpoint (RFC 6749 3.2), by `app.all`: browsers send `OPTIONS` for CORS. Authenticates clients, unless
   * {@link clientAuthentication} or one of {@link strategies} has.
   */
  readonly token: EndpointPart
  /** The revocation endpoint (RFC 7009), as the token endpoint. */
  readonly revocation: EndpointPart
  /**
   * The introspection endpoint (RFC 7662), for clients with `may_introspect`.
   */
  readonly introspection: EndpointPart
  /**
   * An endpoint by its name: `app.get('/me', oauth.endpoint('whoami'))`.
   *
   * @throws ConfigurationError if no endpoint has this name.
   */
  endpoint(name: string): ReturnType<EndpointPart>
  /**
   * Metadata (RFC 8414) at every well-known path of an issuer with a path: `app.use(oauth.metadata())` at the root of
   * the host. Else the router has them.
   */
  metadata(): RequestHandler
  /** Makes a guard, which sets `req.oauth`: `app.get('/photos', oauth.bearerGuard('photos:read'), …)`. */
  readonly bearerGuard: BearerGuard
  /**
   * The metadata of a resource of the option `resources` (RFC 9728):
   * `app.use(oauth.protectedResource('https://api.example.com/mcp'))` at the root of its host.
   */
  readonly protectedResource: ProtectedResourcePart
  /** For a Passport instance of the host. */
  readonly strategies: readonly ClientStrategy[]
  /**
   * Resolves once the store has no valid code or token of the authorization. A guard of another process with
   * a cache follows within one second.
   *
   * @throws OAuthError `temporarily_unavailable` if the store fails.
   */
  revoke(authorizationId: string): Promise<void>
  /** Lists and ends what owners approved, with the option `authorizations`. */
  readonly authorizations: OwnerAuthorizations
  /** Approvals, tokens, revocations, refusals and failures: see `docs/events.md`. */
  readonly events: AuthorizationServerEvents
}

/** @throws ConfigurationError that lists every mistake in the options. */
export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const settings = resolveOptions(options)
  const context = createServerContext(settings)
  settings.plugins.start(context)
  const authorizations = ownerAuthorizations(context)
  const pages = [...settings.pages, ...connectedApplications(context, authorizations)]
  const endpoints = endpointsOf(context)
  const rows = endpoints.map((endpoint) => endpointRow(context, endpoint))
  const pageRows = pages.map((page) => pageRow(context, page))
  const metadata = wireMetadata(context, endpoints)
  const metadataPaths = wellKnownPaths(settings.mount, resourcePaths(settings.resources))
  const notePassed =
    process.env['NODE_ENV'] === 'production' ? undefined : passWatch(settings.login, context.audit.diagnosis)
  const rowNamed = (name: string) => {
    const row = rows.find((each) => each.name === name)
    if (row !== undefined) return row
    const names = [...rows, ...pageRows].map((each) => each.name).join(', ')
    throw new ConfigurationError('oauth.endpoint() cannot work:', [
      { path: 'name', message: `is "${name}"; the endpoints are ${names}.` },
    ])
  }
  const endpointNamed = (name: string) => {
    const page = pageRows.find((each) => each.name === name)
    if (page !== undefined) return [served(context, page)]
    const row = rowNamed(name)
    return [served(context, row), clientAuthenticationErrors(context, row)]
  }
  const whole = () => {
    const routes = new Map<string, RequestHandler>()
    // An issuer with a path has the rest at the root of the host.
    for (const path of settings.mount === '' ? metadataPaths : wellKnownBelowIssuer)
      routes.set(path, metadata)
    // As Express does, also with a slash behind it.
    const at = (path: string, middleware: RequestHandler) =>
      routes.set(path, middleware).set(`${path}/`, middleware)
    for (const row of rows) at(row.path, served(context, row))
    for (const page of pageRows) at(page.path, served(context, page))
    if (settings.resourceOwner !== undefined)
      at(settings.paths.authorization, served(context, authorizationRow(context)))
    const missing = missingMetadata(wellKnownBelowIssuer, settings.cors)
    return router(routes, settings.mount, missing, notePassed)
  }
  const atHost = authenticatorAtHost(context, rowNamed('token'))
  const server: AuthorizationServer = {
    router: part('router', whole),
    authorize: part('authorize', () => {
      if (settings.resourceOwner === undefined) throw withoutResourceOwner()
      return served(context, authorizationRow(context))
    }),
    clientAuthentication: part('clientAuthentication', () =>
      served(context, { ...rowNamed('token'), handle: undefined }, corsByPath(context, rows)),
    ),
    token: part('token', () => endpointNamed('token')),
    revocation: part('revocation', () => endpointNamed('revocation')),
    introspection: part('introspection', () => endpointNamed('introspection')),
    endpoint: (name: string, ...more: readonly unknown[]) => {
      if (more.length > 0) throw mountedUncalled('endpoint', "endpoint('whoami')")
      return endpointNamed(name)
    },
    metadata: part('metadata', () => metadataAt(metadataPaths, metadata)),
    bearerGuard: bearerGuard(context),
    protectedResource: protectedResource(settings),
    strategies: methodsIn(context.credentialTerms).map(({ name }) => clientStrategy(name, atHost)),
    revoke: hostRevocation(context),
    authorizations,
    events: context.audit.events,
    ...wireRegistration(context),
    ...lifecycleOf({
      ...settings,
      store: settings.givenStore,
      readiness: readinessOf(context),
      requests: context.requests,
    }),
  }
  letMint(server, minting(context))
  return server
}

const readinessOf = ({ settings: { plugins }, store: { indexedSince } }: ServerContext) =>
  indexedSince === undefined ? plugins.readiness : [...plugins.readiness, indexedSince.readiness]

const withoutResourceOwner = () =>
  new ConfigurationError('oauth.authorize() cannot work:', [
    { path: 'resourceOwner', message: 'is missing: it must be a function that returns who is logged in.' },
  ])

function wireRegistration(context: ServerContext): ClientRegistrar {
  const { settings, plugins } = context
  const { clientRegistry, capabilities, resourceOwner, dynamicRegistration } = settings
  const offered = {
    ...capabilities,
    grantTypes: plugins.offeredGrantTypes,
    responseTypes: resourceOwner === undefined ? [] : settings.responseTypes,
  }
  const revoke = clientRevocation(context)
  const records = dynamicRegistration?.records
  const ofStrangers = records && {
    setDisabled: (clientId: string, disabled: boolean) => records.setDisabled(clientId, disabled),
    async remove(clientId: string) {
      await revoke?.(clientId)
      await records.remove(clientId)
    },
  }
  return clientRegistrar(clientRegistry, offered, settings.authorizations ? revoke : undefined, ofStrangers)
}

/** Without the root of a host. */
function resourcePaths(resources: Resources | undefined): readonly string[] {
  const known = resources?.all.filter(({ uri }) => metadataUrlOf(uri) !== undefined) ?? []
  return known.map(({ uri }) => new URL(uri).pathname).filter((path) => path !== '/')
}
