import type { ErrorRequestHandler, RequestHandler } from 'express'
import type { Circumstances } from './authorization/circumstances'
import { ResponseTypes } from './authorization-endpoint/response-type'
import { clientSecretBasic } from './client-authentication/methods/client-secret-basic'
import { clientSecretPost } from './client-authentication/methods/client-secret-post'
import { none } from './client-authentication/methods/none'
import { SecretVerifier } from './client-authentication/secret-verifier'
import type { AuthorizationEdge } from './express/authorization-edge'
import { authorize } from './express/authorize'
import { bearerGuard, type BearerGuard } from './express/bearer-guard'
import { consentRenderer, errorRenderer } from './express/consent'
import { credentialSourcesOf } from './express/credential-sources'
import { FailureReports, type AuthorizationServerEvents } from './express/failure'
import { loginOf } from './express/login'
import { MountedParts, part } from './express/mounting'
import { router } from './express/router'
import { clientAuthentication, clientAuthenticationErrors, token, type TokenEdge } from './express/token'
import type { AuthorizationServerOptions } from './options'
import type { ClientStrategy } from './passport/client-strategy'
import { ClientVerification } from './passport/client-verification'
import { clientStrategies } from './passport/strategies'
import { ConfigurationError } from './protocol/configuration'
import { secureRandom } from './protocol/credential'
import { resolveOptions } from './resolve-options'
import type { Settings } from './settings'
import type { AuthorizationStore } from './stores/authorization-store'
import { withDeadline } from './stores/deadline'
import { authorizationCode } from './token-endpoint/grant-types/authorization-code'
import { clientCredentials } from './token-endpoint/grant-types/client-credentials'
import { refreshToken } from './token-endpoint/grant-types/refresh-token'
import { bearer } from './token-types/bearer'

/** An authorization server, in parts that an Express application mounts. */
export interface AuthorizationServer {
  /** All endpoints at their configured paths: `app.use(oauth.router())`, below the issuer's path if it has one. */
  router(): RequestHandler
  /** The authorization endpoint (RFC 6749 3.1) with its consent page, for `GET` and `POST` at one path. */
  authorize(): RequestHandler
  /** Client authentication (RFC 6749 2.3): goes before {@link AuthorizationServer.token}. */
  clientAuthentication(): RequestHandler
  /** The token endpoint (RFC 6749 3.2), behind client authentication. */
  token(): (RequestHandler | ErrorRequestHandler)[]
  /** Guards a route: `app.get('/photos', oauth.bearerGuard('photos:read'), …)`. Sets `req.oauth`. */
  readonly bearerGuard: BearerGuard
  /** The methods of client authentication, for a Passport instance of the host's own. */
  readonly strategies: readonly ClientStrategy[]
  /** Revokes an authorization: every code and token that descends from it is dead when this resolves. */
  revoke(authorizationId: string): Promise<void>
  /** What is refused and what breaks. */
  readonly events: AuthorizationServerEvents
}

/**
 * Makes an authorization server.
 *
 * @throws ConfigurationError that lists every mistake in the options, each with its path and cure.
 */
export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const settings = resolveOptions(options)
  const reports = new FailureReports()
  const store = withDeadline(settings.store, settings.storeDeadline)
  const circumstances = circumstancesOf(settings)
  const tokenEdge = wireToken(settings, store, circumstances, reports)
  const authorizationEdge = wireAuthorization(settings, store, circumstances, reports)
  const knownScope = [...settings.scopes.keys()]
  const guardEdge = { store, tokenType: bearer, now: () => circumstances().now, knownScope, reports }
  const mounted = new MountedParts()
  const whole = () => {
    const routes = new Map([[settings.tokenPath, [clientAuthentication(tokenEdge), token(tokenEdge)]]])
    if (authorizationEdge !== undefined)
      routes.set(settings.authorizationPath, [authorize(authorizationEdge)])
    return router(routes, settings.mount)
  }
  return {
    router: part('router', whole),
    authorize: part('authorize', () => authorize(authorizationEdge ?? withoutResourceOwner())),
    clientAuthentication: part('clientAuthentication', () => {
      mounted.noteClientAuthentication()
      return clientAuthentication(tokenEdge)
    }),
    token: part('token', () => {
      mounted.expectClientAuthentication()
      return [token(tokenEdge), clientAuthenticationErrors(tokenEdge)]
    }),
    bearerGuard: bearerGuard(guardEdge),
    get strategies() {
      mounted.noteClientAuthentication()
      return tokenEdge.strategies
    },
    revoke: (authorizationId) => store.remove(authorizationId),
    events: reports.events,
  }
}

function circumstancesOf({ clock, lifetimes }: Settings): () => Circumstances {
  return () => ({ now: Math.floor(clock() / 1000), random: secureRandom, lifetimes })
}

function wireToken(
  { findClient, extensions, defaultScope, clock, tlsRequired }: Settings,
  store: AuthorizationStore,
  circumstances: () => Circumstances,
  reports: FailureReports,
): TokenEdge {
  const grantTypes = [authorizationCode(extensions), refreshToken, clientCredentials]
  const secrets = new SecretVerifier(clock)
  const methods = [clientSecretBasic(secrets), clientSecretPost(secrets)]
  const verification = new ClientVerification(methods, findClient, credentialSourcesOf)
  return {
    endpoint: {
      grantTypes: new Map(grantTypes.map((grantType) => [grantType.name, grantType])),
      tokenType: bearer,
      defaultScope,
      store,
      circumstances,
    },
    verification,
    strategies: clientStrategies([...methods, none], verification),
    tlsRequired,
    reports,
  }
}

function wireAuthorization(
  settings: Settings,
  store: AuthorizationStore,
  circumstances: () => Circumstances,
  reports: FailureReports,
): AuthorizationEdge | undefined {
  const {
    issuer,
    findClient,
    extensions,
    defaultScope,
    resourceOwner,
    mount,
    authorizationPath,
    scopes,
    tlsRequired,
  } = settings
  if (resourceOwner === undefined) return undefined
  const responseTypes = new ResponseTypes(settings.responseTypes)
  return {
    endpoint: {
      issuer,
      responseTypes,
      extensions,
      defaultScope,
      findClient,
      tokenType: bearer,
      store,
      circumstances,
    },
    resourceOwner,
    login: loginOf(settings.login),
    path: mount + authorizationPath,
    showConsent: consentRenderer(scopes, settings.consentPage),
    showError: errorRenderer(settings.errorPage),
    tlsRequired,
    reports,
  }
}

function withoutResourceOwner(): never {
  throw new ConfigurationError('oauth.authorize() cannot work:', [
    { path: 'resourceOwner', problem: 'is missing: it must be a function that tells who is logged in.' },
  ])
}
