import type { Request, RequestHandler } from 'express'
import { clientSecretBasic, clientSecretPost, none } from '../client-authentication/built-in-methods'
import { SecretVerifier } from '../client-authentication/client-secret'
import { CredentialThrottle } from '../client-authentication/credential-throttle'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import {
  type AnswerToClient,
  clientEndpoint,
  type ClientEndpointHttp,
  type ClientEndpointName,
  wholeClientEndpoint,
} from '../http/client-endpoint'
import { credentialSourcesOf, formOf } from '../http/request'
import { hostWatch } from '../http/transport'
import { introspect } from '../introspection-endpoint/introspect'
import { ClientVerification } from '../passport/client-verification'
import { clientStrategies, type ClientStrategy } from '../passport/strategies'
import type { FindClient } from '../protocol/client'
import { isText } from '../protocol/configuration'
import type { ExtensionData, Json } from '../protocol/extension'
import { grantableScope } from '../protocol/scope'
import { steadyClock } from '../protocol/steady-clock'
import { revoke } from '../revocation-endpoint/revoke'
import type { Mint, MintRequest } from '../audit/testing-door'
import { beginWith, exchange, type TokenEndpoint } from '../token-endpoint/exchange'
import type { GrantType } from '../token-endpoint/grant-type'
import { authorizationCode, clientCredentials, refreshToken } from '../token-endpoint/grant-types/built-in'
import { tokenResponse } from '../token-types/bearer'
import type { ServerContext } from './context'

/** One endpoint that clients call by themselves. */
export interface WiredEndpoint {
  readonly edge: ClientEndpointHttp
  readonly path: string
  /** For a client that was authenticated before. */
  readonly handler: RequestHandler
  /** With the authentication of the client. */
  readonly whole: RequestHandler
}

/** All of them, what authenticates their clients, and what the token endpoint has to offer. */
export interface ClientEndpoints extends Readonly<Record<ClientEndpointName, WiredEndpoint>> {
  readonly verification: ClientVerification
  readonly strategies: readonly ClientStrategy[]
  /** What signs the assertions of clients. */
  readonly signingAlgorithms: readonly string[]
  readonly grantTypes: readonly string[]
  readonly mint: Mint
}

export function wireClientEndpoints(wiring: ServerContext): ClientEndpoints {
  const { settings, store, context, requireService, admit, reports, requests } = wiring
  const { issuer, tlsRequired, bodyDeadline, errorUri } = settings
  const { methods, verification } = clientVerification(wiring)
  const watchHost = hostWatch(issuer)
  const schemes = methods.flatMap(({ scheme }) => scheme ?? [])
  const endpoint = (name: ClientEndpointName, path: string, answer: AnswerToClient): WiredEndpoint => {
    const terms = { endpoint: name, tlsRequired, watchHost, bodyDeadline, schemes, errorUri }
    const edge = { ...terms, failures: admit.clients, requireService, reports, requests }
    const whole = wholeClientEndpoint(edge, verification, answer)
    return { edge, path, handler: clientEndpoint(edge, answer), whole }
  }
  const tokens = tokenEndpoint(wiring)
  const introspection = {
    issuer,
    store,
    describe: (extensionData: ExtensionData) => describe(extensionData, settings.grantTypes),
    now: () => context().now,
  }
  return {
    verification,
    strategies: clientStrategies([...methods, none], verification),
    signingAlgorithms: [...new Set(methods.flatMap((method) => method.signingAlgorithms ?? []))],
    grantTypes: [...tokens.grantTypes.keys()],
    mint: minting(tokens, settings.findClient),
    token: endpoint('token', settings.tokenPath, (...asked) => exchange(tokens, ...asked)),
    revocation: endpoint('revocation', settings.revocationPath, (client, parameters, _address, onCommitted) =>
      revoke({ store, context }, client, parameters, onCommitted),
    ),
    introspection: endpoint('introspection', settings.introspectionPath, (client, parameters) =>
      introspect(introspection, client, parameters),
    ),
  }
}

function clientVerification({ settings, counters, admit }: ServerContext): {
  readonly methods: readonly ClientAuthenticationMethod[]
  readonly verification: ClientVerification
} {
  const { clock, findClient, clientAuthenticationMethods, clientAuthenticationLimits, bodyDeadline } =
    settings
  const secrets = new SecretVerifier(steadyClock(clock))
  const methods = [clientSecretBasic(secrets), clientSecretPost(secrets), ...clientAuthenticationMethods]
  const limits = new CredentialThrottle(clientAuthenticationLimits, counters)
  const sourcesOf = async (request: Request) =>
    credentialSourcesOf(request, await formOf(request, bodyDeadline))
  const refusalOf = (request: Request) => admit.clients.refusalOf(request)
  return {
    methods,
    verification: new ClientVerification(methods, findClient, limits, sourcesOf, refusalOf),
  }
}

function describe(
  extensionData: ExtensionData,
  grantTypes: readonly GrantType[],
): Readonly<Record<string, Json>> {
  const described = grantTypes.map((grantType) => {
    const data = Object.hasOwn(extensionData, grantType.name) ? extensionData[grantType.name] : undefined
    return data === undefined ? {} : grantType.introspect?.(data)
  })
  return Object.assign({}, ...described)
}

function tokenEndpoint({
  settings,
  store,
  takeCached,
  counters,
  issueLimits,
  context,
}: ServerContext): TokenEndpoint {
  const { issuer, extensions, defaultScope } = settings
  const grantTypes = [authorizationCode(extensions), refreshToken, clientCredentials, ...settings.grantTypes]
  return {
    issuer,
    grantTypes: new Map(grantTypes.map((grantType) => [grantType.name, grantType])),
    defaultScope,
    tokenType: settings.tokenType,
    store,
    takeCached,
    counters,
    issueLimits,
    context,
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
    const context = endpoint.context()
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
