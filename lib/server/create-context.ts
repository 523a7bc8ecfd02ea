import { setTimeout } from 'node:timers/promises'
import { ConsentMemory } from '../authorization-endpoint/consent-memory'
import { namedModes } from '../protocol/response-modes'
import { checkedResponseType, ResponseTypes } from '../authorization/response-types'
import { indexing, type OwnerIndex, type RequireRoom, withOpenId } from '../authorization/authorization-index'
import { ClientMarks } from '../authorization/client-marks'
import type { ConsentStore } from '../authorization/consent-store'
import { completionOf } from '../authorization/complete-issue'
import { indexedSince } from '../authorization/indexed-since'
import { issuerDigest, storeOfIssuer } from '../authorization/issuer'
import { lifetimesFor } from '../authorization/lifetimes'
import { accessFinder, type FindAccess, findAccess } from '../authorization/lookup'
import { selfRegisteredShare } from '../authorization/self-registered-share'
import { refreshTokenKeeper } from '../authorization/refresh-token-rotation'
import type { AuthorizationStore } from '../authorization/store'
import { type IssueContext, unrestricted } from '../authorization/transition'
import { clientStrategy } from '../client-authentication/strategies'
import { isDynamicClientId } from '../clients/dynamic-registration/client-id'
import { formatsByName, usualFormatOf } from '../config/access-token-formats'
import type { ServerSettings } from '../config/settings'
import { byName, isOwnExtension, offeredGrantTypes } from '../config/plug-ins'
import { isForCertainResources } from '../extensions/resource-indicators/resource-indicators'
import { authenticatorAtHost } from '../http/client-authenticator'
import { networkLimits } from '../http/network-limits'
import { hostWatch } from '../http/transport'
import { issueLimits } from '../limits/issue-limits'
import { demandedLogins, openRequests } from '../limits/open-requests'
import { steadyClock } from '../primitives/steady-clock'
import { offlineAccess } from '../protocol/scope'
import { isRegisteredByHost } from '../protocol/client'
import { withConfirmation } from '../protocol/confirmation'
import { secureRandom } from '../protocol/credential'
import type { Extension } from '../protocol/extension'
import { noEvidence } from '../protocol/evidence'
import { refused } from '../protocol/refusals'
import { publishedSubjectBy } from '../protocol/published-subject'
import { consentsWithDeadline, indexWithDeadline, withDeadline } from '../stores/deadline'
import { noteForHost, notingUses } from '../stores/noting-uses'
import { ownWrites } from '../stores/own-writes'
import { checkedGrantType, type ServedGrantType } from '../authorization/grant-type'
import { authorizationCode, clientCredentials, refreshToken } from '../token-endpoint/grant-types/built-in'
import { restrictorsOf } from '../authorization/restrict'
import type { ServerContext } from './context'
import { countersFor, createGuardContext, observerOf, tokenFinders } from './create-guard-context'
import { authenticationOf, methodsIn } from './wire-client-authentication'

const countNothing = () => {}

// Milliseconds. Clients usually redeem a code sooner; an owner who presses a button twice accepts it.
const timeToArrive = 1000

export function createServerContext(settings: ServerSettings): ServerContext {
  const { clock, issuer, lifetimes, maintenance, storeDeadline } = settings
  const ownDigest = issuerDigest(issuer)
  const tokenTypes = byName(settings.tokenTypes)
  const formats = formatsByName(settings.accessTokenFormats)
  const usualFormat = usualFormatOf(settings.accessTokenFormats)
  const limits = issueLimits(settings.issueLimits, clock)
  const keeperFor = refreshTokenKeeper(settings.refreshTokenRotation, settings.extensions)
  const publishedSubject = publishedSubjectBy(settings.extensions)
  const { store: ownStore, takeCached } = ownWrites(storeOfIssuer(storeOf(settings), ownDigest))
  const index = indexOf(settings)
  const clientMarks = marksOf(settings, index, ownDigest)
  const store = withIndex(clientMarks?.forEndpoints(ownStore) ?? ownStore, index, settings)
  const consentStore = settings.store.consents && consentsWithDeadline(settings.store.consents, storeDeadline)
  const guards = createGuardContext(settings, {
    ...tokenFinders(clientMarks?.forGuards(ownStore) ?? store, settings.accessTokenFormats, settings),
    observeToken: observerOf(settings, settings.store, storeDeadline, clientMarks),
    counters: countersFor(settings, settings),
  })
  const confirmationOf: IssueContext['confirmationOf'] = (
    { tokenData, extensionData: tokenExtensionData, ...own },
    { tokenType, extensionData },
  ) =>
    withConfirmation({}, settings, {
      tokenType: own.tokenType ?? tokenType,
      tokenData,
      extensionData,
      tokenExtensionData,
    })['cnf']
  const server: Omit<ServerContext, 'strategies'> = {
    ...guards,
    ...authenticationOf(settings, guards.counters),
    settings,
    store,
    index,
    consents: consentMemory(settings, consentStore, ownDigest, clientMarks),
    consentStore,
    clientMarks,
    indexedSince: settings.authorizations && index ? indexedSince(index, ownDigest, settings) : undefined,
    takeCached: clientMarks === undefined ? takeCached : (id) => clientMarks.known(takeCached(id)),
    grantTypes: servedGrantTypes(settings),
    findAccess: ownAccess(store, settings),
    issueLimits: limits,
    restrictors: restrictorsOf(settings.extensions, isOwnExtension),
    publishedSubject,
    complete: completionOf(settings, publishedSubject),
    issueContext: (restrict = unrestricted, evidence = noEvidence, client, now = guards.now()) => ({
      now,
      issuerDigest: ownDigest,
      random: secureRandom,
      lifetimes: client === undefined ? lifetimes : lifetimesFor(client, lifetimes),
      tokenTypes,
      usualFormat,
      formats,
      evidence,
      confirmationOf,
      countIssue: limits?.countOfRequest() ?? countNothing,
      keepsRefreshToken: client && keeperFor(client),
      restrict,
    }),
    requireService: maintenance && unlessClosed(maintenance),
    responseModes: namedModes(settings.responseModes),
    responseTypes: new ResponseTypes(settings.responseTypes.map(checkedResponseType)),
    openRequests: openRequests(settings.openRequestLimit, steadyClock(clock)),
    ignoredScope: [
      ...settings.extensions.flatMap(({ ignoredScope = [] }) => ignoredScope),
      ...(settings.offlineAccess ? [offlineAccess] : []),
    ],
    requestResolvers: someOf(settings.extensions, (extension) => extension.resolveRequest !== undefined),
    loginDefaults: someOf(settings.extensions, (extension) => extension.loginDefaults !== undefined),
    ownerExtensions: someOf(settings.extensions, (extension) => extension.atResourceOwner !== undefined),
    askers: someOf(settings.extensions, (extension) => extension.askOwner !== undefined),
    deciders: someOf(settings.extensions, (extension) => extension.atDecision !== undefined),
    refreshExtensions: someOf(settings.extensions, (extension) => extension.atRefresh !== undefined),
    demandedLogins: demandedLogins(
      settings.rateLimit.authorization,
      lifetimes.authorizationRequest,
      steadyClock(clock),
    ),
    letArrive: () => setTimeout(timeToArrive),
    networkLimits: networkLimits(settings, guards.contexts),
    watchHost: hostWatch(issuer),
  }
  const atHost = authenticatorAtHost(server)
  const strategies = methodsIn(server.credentialTerms).map(({ name }) =>
    clientStrategy(name, server.verification, atHost),
  )
  return { ...server, strategies: new Map(strategies.map((strategy) => [strategy.name, strategy])) }
}

/** What the metadata does not offer is unsupported here, too. */
function servedGrantTypes(settings: ServerSettings): ReadonlyMap<string, ServedGrantType> {
  const builtIn = [authorizationCode, refreshToken, clientCredentials]
  const known = [...builtIn, ...settings.grantTypes.map(checkedGrantType)]
  const offered = offeredGrantTypes(
    settings,
    known.map(({ name }) => name),
  )
  return new Map(known.flatMap((each) => (offered.includes(each.name) ? [[each.name, each]] : [])))
}

function ownAccess(
  store: AuthorizationStore,
  { accessTokenFormats, resources, dynamicRegistration, findClient }: ServerSettings,
): FindAccess {
  const findFormatted = accessTokenFormats.length === 0 ? undefined : accessFinder(store, accessTokenFormats)
  return async (accessToken, now) => {
    const found = await (findFormatted === undefined
      ? findAccess(store, accessToken, now)
      : findFormatted(accessToken, now))
    if (found === undefined) return undefined
    // Without the option `resources`, nobody can say what the token is for.
    if (resources === undefined && isForCertainResources(found)) return undefined
    // RFC 7592 2.3: deleting a registration ends its tokens. The store cannot find them all, so look for the
    // client.
    const { clientId } = found.access
    const isDynamic = dynamicRegistration !== undefined && isDynamicClientId(clientId)
    return isDynamic && (await findClient(clientId)) === undefined ? undefined : found
  }
}

function storeOf({
  store,
  storeDeadline,
  dynamicRegistration,
  noteClientUse,
  registeredUses,
}: ServerSettings): AuthorizationStore {
  return notingUses(withDeadline(store, storeDeadline), [
    ...(registeredUses === undefined ? [] : [registeredUses.note]),
    ...(noteClientUse === undefined ? [] : [noteForHost(noteClientUse)]),
    ...(dynamicRegistration === undefined ? [] : [dynamicRegistration.uses.note]),
  ])
}

function indexOf({ store, storeDeadline, plugIns, authorizations }: ServerSettings): OwnerIndex | undefined {
  return !authorizations && plugIns.indexSeconds === undefined
    ? undefined
    : store.index && withOpenId(indexWithDeadline(store.index, storeDeadline))
}

function marksOf(
  { authorizations, clock, lifetimes }: ServerSettings,
  index: OwnerIndex | undefined,
  ownDigest: string,
): ClientMarks | undefined {
  if (!authorizations || index === undefined) return undefined
  const requestLifetime = lifetimes.authorizationRequest
  return new ClientMarks({ index, issuerDigest: ownDigest, clock, requestLifetime })
}

function consentMemory(
  { rememberConsent, clock }: ServerSettings,
  store: ConsentStore | undefined,
  ownDigest: string,
  marks: ClientMarks | undefined,
): ConsentMemory | undefined {
  if (rememberConsent === undefined || store === undefined) return undefined
  const now = () => Math.floor(clock() / 1000)
  const revokedBefore = marks && ((clientId: string) => marks.read(clientId))
  return new ConsentMemory({ store, issuerDigest: ownDigest, ...rememberConsent, now, revokedBefore })
}

function withIndex(
  store: AuthorizationStore,
  index: OwnerIndex | undefined,
  settings: ServerSettings,
): AuthorizationStore {
  if (index === undefined) return store
  const { plugIns, lifetimes, clock } = settings
  const now = () => clock() / 1000
  const requireRoom = shareOf(settings, { index, store, now: () => Math.floor(now()) })
  const leastSeconds = plugIns.indexSeconds ?? 0
  return indexing(store, {
    index,
    now,
    patience: settings.storeDeadline,
    lifetimes,
    leastSeconds,
    requireRoom,
  })
}

function shareOf(
  { selfRegisteredClients, dynamicRegistration, clientMetadata, findClient, lifetimes }: ServerSettings,
  parts: Pick<Parameters<typeof selfRegisteredShare>[0], 'index' | 'store' | 'now'>,
): RequireRoom | undefined {
  const hasDocuments = clientMetadata['client_id_metadata_document_supported'] === true
  if (selfRegisteredClients === undefined || (dynamicRegistration === undefined && !hasDocuments))
    return undefined
  return selfRegisteredShare({
    ...parts,
    most: selfRegisteredClients,
    clientLifetime: dynamicRegistration?.uses.lifetime ?? lifetimes.refreshToken,
    isSelfRegistered: (clientId) =>
      (dynamicRegistration !== undefined && isDynamicClientId(clientId)) ||
      (hasDocuments && clientId.startsWith('https://')),
    isOfHost: async (clientId) => {
      const client = await findClient(clientId)
      return client !== undefined && isRegisteredByHost(client)
    },
  })
}

function unlessClosed(maintenance: NonNullable<ServerSettings['maintenance']>): () => Promise<void> {
  return async () => {
    const isClosed: unknown = await maintenance()
    if (isClosed === true) throw refused('maintenance')
  }
}

/** Undefined if there are none, so that requests pay nothing. */
function someOf(
  extensions: readonly Extension[],
  has: (extension: Extension) => boolean,
): readonly Extension[] | undefined {
  const some = extensions.filter(has)
  return some.length > 0 ? some : undefined
}
