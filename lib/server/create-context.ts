import { isOwnExtension } from '../config/doors'
import { issuerDigest } from '../authorization/issuer'
import type { ServerContext, ServerSettings } from '../config/settings'
import { networkLimits } from '../http/network-limits'
import { hostWatch } from '../http/transport'
import { issueLimits } from '../limits/issue-limits'
import { demandedLogins, openRequests } from '../limits/open-requests'
import { privateState } from '../primitives/private-state'
import { secondsOf, steadyClock } from '../primitives/clock'
import { secureRandom } from '../protocol/credential'
import { refused } from '../protocol/refusals'
import { openStore } from './create-store'
import { guardEdge, lookUpIn } from './guard-edge'
import { ClientVerification } from '../client-authentication/authenticate-client'
import { clientSecretBasic, clientSecretPost, none } from '../client-authentication/built-in-methods'
import { SecretVerifier } from '../client-authentication/client-secret'
import { ForeignDigests } from '../client-authentication/foreign-digests'
import { CredentialThrottle } from '../client-authentication/credential-throttle'
import type { AuthenticatingServer, ClientAuthenticationMethod } from '../client-authentication/method'
import { clientWithin, type CredentialTerms } from '../client-authentication/read-credential'
import { offeredGrantTypes, takesPublicClients, usualFormatOf } from '../config/plug-ins'
import { replaceSecretHash } from '../clients/registrations'
import { urlBelow } from '../endpoints/server-metadata'
import type { Counters } from '../limits/counters'
import { checkedGrantType } from '../authorization/grant-type'
import type { Plugins } from '../doors/plug-ins'
import type { At, Door } from '../protocol/extension'
import { checkedResponseType, ResponseTypes } from '../authorization/response-types'
import { restrictorsOf } from '../authorization/restrict'
import { withConfirmation } from '../protocol/confirmation'
import { publishedSubjectBy } from '../protocol/client'
import { namedModes } from '../protocol/response-types'
import { offlineAccess } from '../protocol/scope'
import { authorizationCode, clientCredentials, refreshToken } from '../token-endpoint/grant-types/built-in'

export function createServerContext(settings: ServerSettings): ServerContext {
  const { clock, issuer, lifetimes, limits, maintenance } = settings
  const ownDigest = issuerDigest(issuer)
  const steady = steadyClock(clock)
  const store = openStore(settings, ownDigest)
  const guards = guardEdge(
    settings,
    { counters: settings.counters, singleUseLimit: limits.singleUses },
    lookUpIn(settings, settings.store, settings.authorizations ? store.clientMarks : undefined),
  )
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
      openRequests: openRequests(limits.openRequests, steady),
      demandedLogins: demandedLogins(limits.networks.authorization, lifetimes.authorizationRequest, steady),
    },
    requireService: maintenance && unlessClosed(maintenance),
    networkLimits: networkLimits(settings),
    watchHost: hostWatch(issuer),
    requestsAsked: privateState(),
  }
}

function unlessClosed(maintenance: NonNullable<ServerSettings['maintenance']>): () => Promise<void> {
  return async () => {
    const isClosed: unknown = await maintenance()
    if (isClosed === true) throw refused('maintenance')
  }
}

function authenticationOf(
  settings: ServerSettings,
  counters: Counters,
): { readonly credentialTerms: CredentialTerms; readonly verification: ClientVerification } {
  const { clock, findClient, clientAuthenticationMethods, clientRegistry: registry, verifyDigest } = settings
  const secrets = new SecretVerifier(
    steadyClock(clock),
    verifyDigest && new ForeignDigests(verifyDigest),
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
    verification: new ClientVerification(findClient, limits, authenticatingServer(settings, counters)),
  }
}

export function methodsIn({
  methods,
  takesPublicClients: withNone,
}: CredentialTerms): readonly ClientAuthenticationMethod[] {
  return withNone ? [...methods, none] : methods
}

function authenticatingServer(
  { issuer, tokenPath, clock, clientDocuments }: ServerSettings,
  counters: Counters,
): AuthenticatingServer {
  return {
    issuer,
    tokenEndpoint: urlBelow(issuer, tokenPath),
    counters,
    documents: clientDocuments,
    now: secondsOf(clock),
  }
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
    responseTypes: new ResponseTypes(settings.responseTypes.map(checkedResponseType)),
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
