import { ConsentMemory } from '../authorization/consent-memory'
import { indexing, type OwnerIndex, type RequireRoom, withOpenId } from '../authorization/authorization-index'
import { ClientMarks } from '../authorization/client-marks'
import type { ConsentStore } from '../authorization/consent-store'
import { indexedSince } from '../authorization/indexed-since'
import { storeOfIssuer } from '../authorization/issuer'
import { accessFinder, type FindAccess, findAccess } from '../authorization/lookup'
import { selfRegisteredShare } from '../authorization/self-registered-share'
import type { AuthorizationStore } from '../authorization/store'
import { isDynamicClientId } from '../clients/dynamic-registration/client-id'
import type { ServerSettings } from '../config/settings'
import { isForCertainResources } from '../extensions/resource-indicators/resource-indicators'
import { isRegisteredByHost } from '../protocol/client'
import { consentsWithDeadline, indexWithDeadline, withDeadline } from '../stores/deadline'
import { noteForHost, notingUses } from '../stores/noting-uses'
import { ownWrites } from '../stores/own-writes'
import type { ServerStore } from '../doors/context'

interface OpenedStore {
  readonly store: ServerStore
  /** Without index and marks: guards read no mark before each request. */
  readonly plain: AuthorizationStore
}

export function openStore(settings: ServerSettings, ownDigest: string): OpenedStore {
  const { store: plain, takeCached } = ownWrites(storeOfIssuer(storeOf(settings), ownDigest))
  const index = indexOf(settings)
  const clientMarks = marksOf(settings, index, ownDigest)
  const store = withIndex(clientMarks?.forEndpoints(plain) ?? plain, index, settings)
  const { consents } = settings.store
  const consentStore = consents && consentsWithDeadline(consents, settings.storeDeadline)
  return {
    store: {
      ...store,
      findAccess: ownAccess(store, settings),
      takeCached: clientMarks === undefined ? takeCached : (id) => clientMarks.known(takeCached(id)),
      index,
      clientMarks,
      indexedSince: settings.authorizations && index ? indexedSince(index, ownDigest, settings) : undefined,
      consents: consentMemory(settings, consentStore, ownDigest, clientMarks),
      consentStore,
    },
    plain,
  }
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
  const { plugIns, lifetimes, clock, storeDeadline: patience } = settings
  const now = () => clock() / 1000
  const requireRoom = shareOf(settings, { index, store, now: () => Math.floor(now()) })
  const leastSeconds = plugIns.indexSeconds ?? 0
  return indexing(store, { index, now, patience, lifetimes, leastSeconds, requireRoom })
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
