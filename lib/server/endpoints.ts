import type { RequestHandler } from 'express'
import { clientSecretBasic, clientSecretPost, none } from '../client-authentication/built-in-methods'
import { ClientVerification } from '../client-authentication/authenticate-client'
import { SecretVerifier } from '../client-authentication/client-secret'
import { CredentialThrottle } from '../client-authentication/credential-throttle'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import {
  type EndpointHttp,
  type EndpointRow,
  mountedEndpoint,
  singleEndpoint,
  wholeEndpoint,
} from '../http/endpoint'
import { type AuthenticationHttp, clientRequest } from '../http/request-context'
import { hostWatch } from '../http/transport'
import { introspect } from '../introspection-endpoint/introspect'
import { clientStrategy, type ClientStrategy } from '../passport/strategies'
import type { FoundAccess } from '../authorization/lookup'
import type { ServerSettings } from '../config/options'
import type { FindClient } from '../protocol/client'
import { isText } from '../protocol/configuration'
import { dataOf, type Json, keptBy } from '../protocol/extension'
import { grantableScope } from '../protocol/scope'
import { steadyClock } from '../protocol/steady-clock'
import { revoke } from '../revocation-endpoint/revoke'
import type { Mint, MintRequest } from '../audit/testing-door'
import { beginWith, exchange, type TokenEndpoint } from '../token-endpoint/exchange'
import { authorizationCode, clientCredentials, refreshToken } from '../token-endpoint/grant-types/built-in'
import { tokenResponse } from '../token-types/bearer'
import type { ServerContext } from './context'

/** An endpoint as it is mounted. */
export interface WiredEndpoint {
  readonly http: EndpointHttp
  /** Behind a client authentication that the host must mount. */
  readonly mounted: RequestHandler
  /** By itself, or behind strategies of the host's own Passport. */
  readonly single: RequestHandler
  /** With the authentication of the client. */
  readonly whole: RequestHandler
}

/** The endpoints of a server, what authenticates their clients, and what the token endpoint offers. */
export interface Endpoints {
  /** By name. */
  readonly table: ReadonlyMap<string, WiredEndpoint>
  readonly strategies: readonly ClientStrategy[]
  /** The algorithms that sign the assertions of clients. */
  readonly signingAlgorithms: readonly string[]
  readonly grantTypes: readonly string[]
  readonly mint: Mint
}

export function wireEndpoints(server: ServerContext): Endpoints {
  const { settings, requireService, audit, requests } = server
  const { issuer, tlsRequired, errorUri } = settings
  const { methods, authentication } = clientAuthentication(server)
  const strategies = [...methods, none].map(({ name }) =>
    clientStrategy(name, (request) => clientRequest(authentication, request)),
  )
  const shared = {
    ...authentication,
    strategies: new Map(strategies.map((strategy) => [strategy.name, strategy])),
    tlsRequired,
    watchHost: hostWatch(issuer),
    schemes: methods.flatMap(({ scheme }) => scheme ?? []),
    errorUri,
    requireService,
    audit,
    requests,
  }
  const tokens = tokenEndpoint(server)
  const rows = [
    tokenRow(server, tokens),
    revocationRow(server),
    introspectionRow(server),
    ...settings.endpoints,
  ]
  return {
    table: new Map(rows.map((endpoint) => [endpoint.name, wired({ ...shared, endpoint })])),
    strategies,
    signingAlgorithms: [...new Set(methods.flatMap((method) => method.signingAlgorithms ?? []))],
    grantTypes: [...tokens.grantTypes.keys()],
    mint: minting(tokens, settings.findClient),
  }
}

const wired = (http: EndpointHttp): WiredEndpoint => ({
  http,
  mounted: mountedEndpoint(http),
  single: singleEndpoint(http),
  whole: wholeEndpoint(http),
})

/** RFC 6749 3.2 */
function tokenRow({ settings }: ServerContext, tokens: TokenEndpoint): EndpointRow {
  return {
    name: 'token',
    path: settings.tokenPath,
    notesOf(form) {
      const shown = ['code', 'refresh_token', 'subject_token'].find((name) => form.mentions(name))
      return { shown: shown && form.peek(shown), grantType: form.peek('grant_type') }
    },
    // RFC 6749 5.2 has 400 for every error but that of the client itself.
    errorStatus: { temporarily_unavailable: 400 },
    answer: async (request) => ({
      members: await exchange(tokens, {
        client: request.client,
        parameters: request.parameters,
        address: () => request.address,
        onCommitted: request.onCommitted,
      }),
    }),
  }
}

/** RFC 7009. RFC 7009 2.2.1: 503 tells a client that the token still exists. */
function revocationRow({ settings, store, issueContext }: ServerContext): EndpointRow {
  return {
    name: 'revocation',
    path: settings.revocationPath,
    notesOf: (form) => ({ shown: form.peek('token') }),
    answer: async (request) => ({ members: await revoke({ store, issueContext }, request) }),
  }
}

/** RFC 7662. RFC 7662 2.1: a caller must be authorized, and a client without credentials cannot be. */
function introspectionRow({ settings, store, issueContext }: ServerContext): EndpointRow {
  const endpoint = {
    issuer: settings.issuer,
    store,
    describe: (found: FoundAccess) => describe(found, settings),
    now: () => issueContext().now,
  }
  return {
    name: 'introspection',
    path: settings.introspectionPath,
    clientAuthentication: 'confidential',
    notesOf: (form) => ({ shown: form.peek('token') }),
    answer: async (request) => ({ members: await introspect(endpoint, request) }),
  }
}

function clientAuthentication({ settings, counters, admit, contexts }: ServerContext): {
  readonly methods: readonly ClientAuthenticationMethod[]
  readonly authentication: AuthenticationHttp
} {
  const { clock, findClient, clientAuthenticationMethods, clientAuthenticationLimits, bodyDeadline } =
    settings
  const secrets = new SecretVerifier(steadyClock(clock))
  const methods = [clientSecretBasic(secrets), clientSecretPost(secrets), ...clientAuthenticationMethods]
  const limits = new CredentialThrottle(clientAuthenticationLimits, counters)
  const plugIns = [...methods, ...settings.grantTypes, ...settings.extensions]
  const credentialParameters = plugIns.flatMap((plugIn) => plugIn.credentialParameters ?? [])
  const verification = new ClientVerification(methods, findClient, limits, credentialParameters)
  return { methods, authentication: { verification, contexts, failures: admit.clients, bodyDeadline } }
}

/** Members that plug-ins add about an access token. */
function describe(
  found: FoundAccess,
  { grantTypes, extensions }: ServerSettings,
): Readonly<Record<string, Json>> {
  const byGrantTypes = grantTypes.map((grantType) => {
    const data = dataOf(grantType.name, found.extensionData)
    return data === undefined ? {} : grantType.introspect?.(data)
  })
  const byExtensions = extensions.map((extension) => extension.introspect?.(keptBy(extension.name, found)))
  return Object.assign({}, ...byGrantTypes, ...byExtensions)
}

function tokenEndpoint({
  settings,
  store,
  takeCached,
  counters,
  issueLimits,
  issueContext,
}: ServerContext): TokenEndpoint {
  const { issuer, extensions, defaultScope } = settings
  const grantTypes = [authorizationCode, refreshToken, clientCredentials, ...settings.grantTypes]
  return {
    issuer,
    grantTypes: new Map(grantTypes.map((grantType) => [grantType.name, grantType])),
    extensions,
    defaultScope,
    tokenType: settings.tokenType,
    store,
    takeCached,
    counters,
    issueLimits,
    issueContext,
  }
}

/** Mints tokens of one server for the test kit, by the same step that ends a token request. */
export function minting(endpoint: TokenEndpoint, findClient: FindClient): Mint {
  return async (request) => {
    const { clientId, scope: requested } = request
    const client = await findClient(clientId)
    if (client === undefined || client.disabled)
      throw new Error(`No client "${clientId}" is registered, or it is disabled.`)
    const scope = grantableScope(requested, client, client.scope)
    const context = endpoint.issueContext()
    const grant = { ...ownerOf(request), scope, refreshToken: false, extensionData: {} }
    const issued = await beginWith(endpoint, client, 'test', grant, context)
    return tokenResponse(issued, context.now)
  }
}

// A subject that is there and undefined comes from a look-up that found nobody: it must not end as a client's own token.
function ownerOf(request: MintRequest): { readonly subject?: string } {
  if (!('subject' in request)) return {}
  if (isText(request.subject)) return { subject: request.subject }
  throw new TypeError('The subject must be a text that is not empty; leave it out for a token of the client.')
}
