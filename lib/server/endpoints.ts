import type { RequestHandler } from 'express'
import { clientSecretBasic, clientSecretPost, none } from '../client-authentication/built-in-methods'
import { ClientVerification } from '../client-authentication/authenticate-client'
import { SecretVerifier } from '../client-authentication/client-secret'
import { CredentialThrottle } from '../client-authentication/credential-throttle'
import type { AuthenticatingServer, ClientAuthenticationMethod } from '../client-authentication/method'
import { documentFetch } from '../document-fetch/document-fetch'
import { clientConfigurationEndpoint } from '../dynamic-registration/client-configuration'
import { isDynamicClientId } from '../dynamic-registration/client-id'
import { registrationEndpoint } from '../dynamic-registration/register'
import {
  type EndpointHttp,
  type EndpointRow,
  methodsOf,
  mountedEndpoint,
  singleEndpoint,
  wholeEndpoint,
} from '../http/endpoint'
import type { Admit } from '../http/network-limit'
import { type AuthenticationHttp, clientAuthenticator } from '../http/request-context'
import { hostWatch } from '../http/transport'
import { introspect } from '../introspection-endpoint/introspect'
import { clientStrategy, type ClientStrategy } from '../passport/strategies'
import { type FindAccess, findAccess, type FoundAccess } from '../authorization/lookup'
import type { ServerSettings } from '../config/options'
import { offeredGrantTypes, takesPublicClients } from '../config/plug-ins'
import { crossOrigin } from '../cors/cors'
import type { FindClient } from '../protocol/client'
import { isText } from '../protocol/configuration'
import { dataOf, type Json, keptBy } from '../protocol/extension'
import { Parameters } from '../protocol/parameters'
import { grantableScope } from '../protocol/scope'
import { steadyClock } from '../protocol/steady-clock'
import { isLoopback } from '../protocol/uri'
import { urlBelow } from '../metadata/server-metadata'
import type { AuthorizationStore } from '../stores/authorization-store'
import type { Counters } from '../stores/counters'
import { isForCertainResources, resourceIndicatorsName } from '../resource-indicators/resource-indicators'
import { revoke } from '../revocation-endpoint/revoke'
import type { Mint, MintRequest } from '../audit/testing-door'
import { beginWith, exchange, type TokenEndpoint } from '../token-endpoint/exchange'
import { authorizationCode, clientCredentials, refreshToken } from '../token-endpoint/grant-types/built-in'
import { restrictToken } from '../token-endpoint/restrict'
import { tokenResponse } from '../token-types/bearer'
import type { ServerContext } from './context'

/** An endpoint, in each form in which a host can mount it. */
export interface WiredEndpoint {
  readonly http: EndpointHttp
  /** The endpoint alone. The host must mount client authentication before it. */
  readonly mounted: RequestHandler
  /**
   * The endpoint with client authentication, unless a strategy in a Passport instance of the host has proven the
   * client.
   */
  readonly single: RequestHandler
  /** The endpoint with client authentication. */
  readonly whole: RequestHandler
}

/** The endpoints of a server, their client authentication, and the offer of the token endpoint. */
export interface Endpoints {
  /** The endpoints by name. */
  readonly table: ReadonlyMap<string, WiredEndpoint>
  readonly strategies: readonly ClientStrategy[]
  /** The methods of client authentication, with `none` if the server takes public clients. */
  readonly methods: readonly ClientAuthenticationMethod[]
  readonly grantTypes: readonly string[]
  readonly mint: Mint
}

export function wireEndpoints(server: ServerContext): Endpoints {
  const { settings, requireService, audit, requests } = server
  const { issuer, tlsRequired, errorUri } = settings
  const { methods: proving, authentication } = clientAuthentication(server)
  const methods = takesPublicClients(settings) ? [...proving, none] : proving
  const authenticateBy = clientAuthenticator(authentication)
  const strategies = methods.map(({ name }) => clientStrategy(name, authenticateBy))
  const shared = {
    ...authentication,
    strategies: new Map(strategies.map((strategy) => [strategy.name, strategy])),
    tlsRequired,
    watchHost: hostWatch(issuer),
    schemes: proving.flatMap(({ scheme }) => scheme ?? []),
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
    ...registrationRows(server),
    ...settings.endpoints,
  ]
  return {
    table: new Map(
      rows.map((endpoint) => [
        endpoint.name,
        wired({ ...shared, endpoint, cors: corsOf(endpoint, settings) }),
      ]),
    ),
    strategies,
    methods,
    grantTypes: [...tokens.grantTypes.keys()],
    mint: minting(tokens, settings.findClient),
  }
}

function corsOf(endpoint: EndpointRow, { cors }: ServerSettings): EndpointHttp['cors'] {
  if (endpoint.cors !== true) return undefined
  return crossOrigin(cors, { methods: methodsOf(endpoint).join(', '), isCacheable: false })
}

const wired = (http: EndpointHttp): WiredEndpoint => ({
  http,
  mounted: mountedEndpoint(http),
  single: singleEndpoint(http),
  whole: wholeEndpoint(http),
})

/** The token endpoint (RFC 6749 3.2). */
function tokenRow({ settings }: ServerContext, tokens: TokenEndpoint): EndpointRow {
  return {
    name: 'token',
    path: settings.tokenPath,
    cors: true,
    notesOf(form) {
      const shown = ['code', 'refresh_token', 'subject_token'].find((name) => form.mentions(name))
      return { shown: shown && form.peek(shown), grantType: form.peek('grant_type') }
    },
    // RFC 6749 5.2 demands 400 for every error but a failed client authentication.
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

/**
 * The revocation endpoint (RFC 7009). `temporarily_unavailable` keeps the status 503: it tells the client that the
 * token still exists (RFC 7009 2.2.1).
 */
function revocationRow({ settings, store, issueContext }: ServerContext): EndpointRow {
  return {
    name: 'revocation',
    path: settings.revocationPath,
    cors: true,
    notesOf: (form) => ({ shown: form.peek('token') }),
    answer: async (request) => ({ members: await revoke({ store, issueContext }, request) }),
  }
}

/**
 * The introspection endpoint (RFC 7662), for confidential clients: the caller must be authorized, and a client without
 * credentials cannot be (RFC 7662 2.1). Without CORS, because a page in a browser cannot keep such credentials.
 */
function introspectionRow({ settings, store, issueContext }: ServerContext): EndpointRow {
  const endpoint = {
    issuer: settings.issuer,
    store,
    findAccess: ownAccess(store, settings),
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

/** The endpoints of dynamic registration (RFC 7591, RFC 7592); none if it is off. */
function registrationRows({ settings, admit }: ServerContext): readonly EndpointRow[] {
  const { dynamicRegistration } = settings
  if (dynamicRegistration === undefined) return []
  const registration = registrationEndpoint(dynamicRegistration)
  const configuration = clientConfigurationEndpoint(dynamicRegistration)
  if (dynamicRegistration.verifyInitialAccessToken !== undefined) return [registration, configuration]
  return [
    { ...registration, admit: admit.registration },
    // An update costs as much as a registration: the server reads keys and writes.
    { ...configuration, admit: forMethod('PUT', admit.registration) },
  ]
}

const forMethod =
  (method: string, admit: Admit): Admit =>
  async (request, response) => {
    if (request.method === method) await admit(request, response)
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
  const server = authenticatingServer(settings, counters)
  const verification = new ClientVerification(
    methods,
    findClient,
    limits,
    credentialParameters,
    server,
    takesPublicClients(settings),
  )
  return { methods, authentication: { verification, contexts, failures: admit.clients, bodyDeadline } }
}

/** What methods of client authentication see of the server. */
function authenticatingServer(
  { issuer, tokenPath, clock, clientDocuments }: ServerSettings,
  counters: Counters,
): AuthenticatingServer {
  let documents = clientDocuments
  return {
    issuer,
    tokenEndpoint: urlBelow(issuer, tokenPath),
    counters,
    // Made at first use: most servers fetch no documents of clients.
    get documents() {
      return (documents ??= documentFetch({
        loopback: isLoopback(new URL(issuer).hostname),
        clock,
      }))
    },
    now: () => Math.floor(clock() / 1000),
  }
}

/** Finds the access tokens for which introspection and token exchange answer. */
function ownAccess(
  store: AuthorizationStore,
  { resources, dynamicRegistration, findClient }: ServerSettings,
): FindAccess {
  return async (accessToken, now) => {
    const found = await findAccess(store, accessToken, now)
    if (found === undefined) return undefined
    // Without the option `resources`, the server cannot say what the token is for.
    if (resources === undefined && isForCertainResources(found)) return undefined
    // RFC 7592 2.3: the tokens of a client end when the client deletes its registration. The store cannot find them all,
    // so the server looks for the client.
    const { clientId } = found.access
    const isDynamic = dynamicRegistration !== undefined && isDynamicClientId(clientId)
    return isDynamic && (await findClient(clientId)) === undefined ? undefined : found
  }
}

/** Collects the members that plug-ins add to the introspection of an access token. */
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
  const { issuer, extensions, defaultScope, resources } = settings
  const known = [authorizationCode, refreshToken, clientCredentials, ...settings.grantTypes]
  const grantTypes = new Map(known.map((grantType) => [grantType.name, grantType]))
  const offered = new Set(offeredGrantTypes(settings, [...grantTypes.keys()]))
  return {
    issuer,
    // What the metadata does not offer is unsupported here, too.
    grantTypes: new Map([...grantTypes].filter(([name]) => offered.has(name))),
    extensions,
    resources,
    defaultScope,
    tokenType: settings.tokenType,
    store,
    takeCached,
    findAccess: ownAccess(store, settings),
    counters,
    issueLimits,
    issueContext,
  }
}

/** Mints tokens of one server for the test kit, through the last step of a token request. */
export function minting(endpoint: TokenEndpoint, findClient: FindClient): Mint {
  return async (request) => {
    const { clientId, scope: requested, resource = [] } = request
    const client = await findClient(clientId)
    if (client === undefined || client.disabled)
      throw new Error(`No client "${clientId}" is registered, or it is disabled.`)
    const scope = grantableScope(requested, client, client.scope)
    const named = [resource].flat().map((uri): [string, string] => ['resource', uri])
    const parameters = Parameters.parse(new URLSearchParams(named).toString())
    const requestedScope = requested === undefined ? undefined : scope
    const asked = { client, parameters, grantType: 'test', requestedScope }
    // A minted token has the resources of the server. Extensions of the host may demand what no test request has.
    const own = endpoint.extensions.filter(({ name }) => name === resourceIndicatorsName)
    const context = endpoint.issueContext((granted) => restrictToken(own, asked, granted))
    const grant = { ...ownerOf(request), scope, refreshToken: false, extensionData: {} }
    const issued = await beginWith(endpoint, client, 'test', grant, context)
    return tokenResponse(issued, context.now)
  }
}

// A subject that is present and undefined comes from a look-up without a result. The token must not become a token of
// the client itself.
function ownerOf(request: MintRequest): { readonly subject?: string } {
  if (!('subject' in request)) return {}
  if (isText(request.subject)) return { subject: request.subject }
  throw new TypeError('The subject must be a text that is not empty; leave it out for a token of the client.')
}
