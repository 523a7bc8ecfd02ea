import { isOwnExtension } from '../config/doors'
import { issuerDigest } from '../authorization/issuer'
import type { ServerSettings } from '../config/resolve-options'
import type { Edge } from '../http/edge'
import { networkLimits } from '../http/network-limits'
import { hostWatch } from '../http/transport'
import { issueLimits } from '../limits/shares'
import { networkOf } from '../limits/network'
import { openRequests } from '../limits/windows'
import { privateState } from '../primitives/private-state'
import { secondsOf, steadyClock } from '../primitives/clock'
import { secureRandom, shortKey } from '../protocol/credential'
import { refused } from '../protocol/refusals'
import { openStore } from './create-store'
import { guardEdge, lookUpIn } from './guard-edge'
import { ClientVerification } from '../client-authentication/authenticate-client'
import { clientSecretBasic, clientSecretPost, none } from '../client-authentication/built-in-methods'
import { SecretVerifier } from '../client-authentication/client-secret'
import { CredentialThrottle } from '../client-authentication/credential-throttle'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import { clientWithin, type CredentialTerms } from '../client-authentication/read-credential'
import { usualFormatOf } from '../config/plug-ins'
import { replaceSecretHash } from '../clients/registrations'
import { urlBelow } from '../endpoints/server-urls'
import type { Counters } from '../limits/counters'
import { checkedGrantType } from '../authorization/grant-type'
import type { Plugins } from '../doors/context'
import type { At, Door } from '../protocol/acting-extensions'
import { checkedResponseType } from '../authorization/response-types'
import { restrictorsOf } from '../authorization/restrict'
import { withConfirmation } from '../protocol/confirmation'
import { publishedSubjectBy } from '../protocol/client'
import { canonicalResponseType, namedModes } from '../protocol/response-types'
import { offlineAccess } from '../protocol/scope'
import { authorizationCode, clientCredentials, refreshToken } from '../token-endpoint/grant-types/built-in'

export interface ServerContext extends Edge {
  readonly settings: ServerSettings
}

export function createServerContext(settings: ServerSettings): ServerContext {
  const { clock, issuer, lifetimes, limits, maintenance } = settings
  const ownDigest = issuerDigest(issuer)
  const steady = steadyClock(clock)
  const store = openStore(settings, ownDigest)
  const marks = settings.authorizations ? store.clientMarks : undefined
  const guards = guardEdge(settings, settings.counters, lookUpIn(settings, settings.store, marks))
  return {
    ...guards,
    ...authenticationOf(settings, guards.counters),
    settings,
    issuerDigest: ownDigest,
    random: secureRandom,
    store,
    plugins: sortPlugins(settings),
    limits: {
      issuing: issueLimits(limits.issuing, clock),
      openRequests: openRequests(limits.openRequests, steady, 'too_many_open_requests', shortKey),
      demandedLogins: openRequests(
        // They end with their request.
        limits.networks.authorization && {
          ...limits.networks.authorization,
          seconds: lifetimes.authorizationRequest,
        },
        steady,
        'too_many_open_requests/logins',
        networkOf,
      ),
    },
    requireService:
      maintenance &&
      (async () => {
        const isClosed: unknown = await maintenance()
        if (isClosed === true) throw refused('maintenance')
      }),
    networkLimits: networkLimits(settings),
    watchHost: hostWatch(issuer),
    requestsAsked: privateState(),
  }
}

function authenticationOf(settings: ServerSettings, counters: Counters) {
  const { issuer, clock, findClient, clientAuthenticationMethods, verifyDigest } = settings
  const { clientRegistry: registry, clientDocuments: documents } = settings
  const secrets = new SecretVerifier(
    steadyClock(clock),
    verifyDigest,
    registry && ((...words) => replaceSecretHash(registry, ...words)),
  )
  const methods = [clientSecretBasic(secrets), clientSecretPost(secrets), ...clientAuthenticationMethods]
  const limits = new CredentialThrottle(settings.limits.clientAuthentication, counters)
  const plugins = [...methods, ...settings.grantTypes, ...settings.extensions]
  const credentialParameters = plugins.flatMap((plugin) => plugin.credentialParameters ?? [])
  return {
    credentialTerms: {
      methods,
      credentialParameters,
      takesPublicClients: takesPublicClients(settings),
      clientWith: clientWithin(settings.registered.clients),
    },
    verification: new ClientVerification(findClient, limits, {
      issuer,
      tokenEndpoint: urlBelow(issuer, settings.paths.token),
      counters,
      documents,
      now: secondsOf(clock),
    }),
  }
}

export function methodsIn({
  methods,
  takesPublicClients: withNone,
}: CredentialTerms): readonly ClientAuthenticationMethod[] {
  return withNone ? [...methods, none] : methods
}

export function sortPlugins(settings: ServerSettings): Plugins {
  const { accessTokenFormats, extensions, scopes } = settings
  const ignoredAtRefresh = [
    ...extensions.flatMap(({ ignoredScope = [] }) => ignoredScope),
    ...(settings.offlineAccess ? [offlineAccess] : []),
  ]
  const at = <Name extends Door>(door: Name): readonly At<Name>[] =>
    extensions.filter((extension): extension is At<Name> => extension[door] !== undefined)
  const builtIn = [authorizationCode, refreshToken, clientCredentials]
  const grantTypes = byName([...builtIn, ...settings.grantTypes.map(checkedGrantType)])
  const offered = offeredGrantTypes(settings, [...grantTypes.keys()])
  return {
    grantTypes: new Map([...grantTypes].filter(([name]) => offered.includes(name))),
    offeredGrantTypes: offered,
    responseTypes: new Map(
      settings.responseTypes.map((type) => [canonicalResponseType(type.name), checkedResponseType(type)]),
    ),
    responseModes: namedModes(settings.responseModes),
    tokenTypes: byName(settings.tokenTypes),
    formats: byName(accessTokenFormats),
    usualFormat: usualFormatOf(accessTokenFormats),
    confirmationOf: (
      { tokenData, extensionData: tokenExtensionData, ...own },
      { tokenType: usual, extensionData },
    ) => {
      const { tokenType = usual } = own
      return withConfirmation({}, settings, { tokenType, tokenData, extensionData, tokenExtensionData })[
        'cnf'
      ]
    },
    authorizationParameters: extensions.flatMap((each) => each.authorizationParameters ?? []),
    tokenParameters: extensions.flatMap((each) => each.tokenParameters ?? []),
    restrictors: restrictorsOf(extensions, isOwnExtension),
    ignoredScope: settings.narrowScope ? [...ignoredAtRefresh, ...scopes.keys()] : ignoredAtRefresh,
    ignoredAtRefresh,
    publishedSubject: publishedSubjectBy(settings.capabilities.members),
    // What a proof adds must be in the request that counts.
    resolve: at('resolve').toSorted((one, other) => Number('prepare' in one) - Number('prepare' in other)),
    authorize: at('authorize'),
    looksAtOwners: at('authorize').some((extension) => !isOwnExtension(extension)),
    respond: at('respond'),
    describe: at('describe'),
  }
}

const byName = <Part extends { readonly name: string }>(parts: readonly Part[]): ReadonlyMap<string, Part> =>
  new Map(parts.map((part) => [part.name, part]))

function offeredGrantTypes(
  { resourceOwner, responseTypes, grantTypes }: ServerSettings,
  atTokenEndpoint: readonly string[],
): readonly string[] {
  const ofResponses = responseTypes.flatMap((type) => type.grantTypes)
  const offered = [...new Set([...atTokenEndpoint, ...ofResponses])]
  if (resourceOwner !== undefined) return offered
  // No codes without resource owners: only a grant type of the host can issue refresh tokens.
  const hasRefreshTokens = grantTypes.some(({ refreshTokens = true }) => refreshTokens)
  return offered.filter(
    (name) => !ofResponses.includes(name) && (name !== 'refresh_token' || hasRefreshTokens),
  )
}

/** RFC 6749 4.4: client credentials do not. */
function takesPublicClients({ resourceOwner, grantTypes, endpoints }: ServerSettings): boolean {
  return (
    resourceOwner !== undefined ||
    endpoints.length > 0 ||
    grantTypes.some(({ publicClients = true }) => publicClients)
  )
}
