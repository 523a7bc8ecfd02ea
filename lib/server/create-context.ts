import { setTimeout } from 'node:timers/promises'
import { ConsentMemory } from '../authorization-endpoint/consent-memory'
import { indexing, type OwnerIndex, type RequireRoom, withOpenId } from '../authorization/authorization-index'
import { ClientMarks } from '../authorization/client-marks'
import type { ConsentStore } from '../authorization/consent-store'
import { indexedSince } from '../authorization/indexed-since'
import { issuerDigest, storeOfIssuer } from '../authorization/issuer'
import { lifetimesFor } from '../authorization/lifetimes'
import { accessFinder, type FindAccess, findAccess } from '../authorization/lookup'
import { selfRegisteredShare } from '../authorization/self-registered-share'
import { keeperFor } from '../authorization/refresh-token-rotation'
import type { AuthorizationStore } from '../authorization/store'
import { type IssueContext, unrestricted } from '../authorization/transition'
import { clientStrategy } from '../client-authentication/strategies'
import { isDynamicClientId } from '../clients/dynamic-registration/client-id'
import type { ServerSettings } from '../config/settings'
import { isForCertainResources } from '../extensions/resource-indicators/resource-indicators'
import { authenticatorAtHost } from '../http/client-authenticator'
import { networkLimits } from '../http/network-limits'
import { hostWatch } from '../http/transport'
import { issueLimits } from '../limits/issue-limits'
import { demandedLogins, openRequests } from '../limits/open-requests'
import { steadyClock } from '../primitives/steady-clock'
import { isRegisteredByHost } from '../protocol/client'
import { withConfirmation } from '../protocol/confirmation'
import { secureRandom } from '../protocol/credential'
import { noEvidence } from '../protocol/evidence'
import { refused } from '../protocol/refusals'
import { consentsWithDeadline, indexWithDeadline, withDeadline } from '../stores/deadline'
import { noteForHost, notingUses } from '../stores/noting-uses'
import { ownWrites } from '../stores/own-writes'
import type { ServerContext } from './context'
import { sortPlugIns } from './sort-plug-ins'
import { countersFor, createGuardContext, observerOf, tokenFinders } from './create-guard-context'
import { authenticationOf, methodsIn } from './wire-client-authentication'

const countNothing = () => {}

// Milliseconds. Clients usually redeem a code sooner; an owner who presses a button twice accepts it.
const timeToArrive = 1000

export function createServerContext(settings: ServerSettings): ServerContext {
  const { clock, issuer, lifetimes, maintenance, storeDeadline } = settings
  const ownDigest = issuerDigest(issuer)
  const plugIns = sortPlugIns(settings)
  const limits = issueLimits(settings.issueLimits, clock)
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
    findAccess: ownAccess(store, settings),
    issueLimits: limits,
    plugIns,
    issueContext: (restrict = unrestricted, evidence = noEvidence, client, now = guards.now()) => ({
      now,
      issuerDigest: ownDigest,
      random: secureRandom,
      lifetimes: client === undefined ? lifetimes : lifetimesFor(client, lifetimes),
      tokenTypes: plugIns.tokenTypes,
      usualFormat: plugIns.usualFormat,
      formats: plugIns.formats,
      evidence,
      confirmationOf,
      countIssue: limits?.countOfRequest() ?? countNothing,
      keepsRefreshToken: client && keeperFor(client, settings, plugIns),
      restrict,
    }),
    requireService: maintenance && unlessClosed(maintenance),
    openRequests: openRequests(settings.openRequestLimit, steadyClock(clock)),
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
