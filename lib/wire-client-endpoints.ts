import type { Request, RequestHandler } from 'express'
import type { ClientAuthenticationMethod } from './client-authentication/method'
import { clientSecretBasic } from './client-authentication/methods/client-secret-basic'
import { clientSecretPost } from './client-authentication/methods/client-secret-post'
import { none } from './client-authentication/methods/none'
import { CredentialThrottle } from './client-authentication/guess-limits'
import { SecretVerifier } from './client-authentication/secret-verifier'
import { clientEndpoint, wholeClientEndpoint, type AnswerToClient } from './express/client-endpoint'
import type { ClientEndpointHttp, ClientEndpointName } from './express/client-post'
import { credentialSourcesOf } from './express/credential-sources'
import { formOf } from './express/form-body'
import { introspect } from './introspection-endpoint/introspect'
import { hostWatch } from './express/host-watch'
import type { ClientStrategy } from './passport/client-strategy'
import { ClientVerification } from './passport/client-verification'
import { clientStrategies } from './passport/strategies'
import type { ExtensionData, Json } from './protocol/bindings'
import { steadyClock } from './protocol/steady-clock'
import { revoke } from './revocation-endpoint/revoke'
import type { Mint } from './testing-door'
import { exchange, type TokenEndpoint } from './token-endpoint/exchange'
import type { GrantType } from './token-endpoint/grant-type'
import { authorizationCode } from './token-endpoint/grant-types/authorization-code'
import { clientCredentials } from './token-endpoint/grant-types/client-credentials'
import { refreshToken } from './token-endpoint/grant-types/refresh-token'
import { minting } from './wire-minting'
import type { ServerContext } from './wiring'

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
    revocation: endpoint('revocation', settings.revocationPath, (client, parameters, _address, witness) =>
      revoke({ store, context }, client, parameters, witness),
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
