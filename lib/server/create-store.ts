import { secondsOf } from '../primitives/steady-clock'
import { ConsentMemory } from '../authorization/consent-memory'
import { indexing, type RequireRoom, withOpenId } from '../authorization/authorization-index'
import { ClientMarks } from '../authorization/client-marks'
import { indexedSince } from '../authorization/indexed-since'
import { storeOfIssuer } from '../authorization/issuer'
import { accessFinder, type FindAccess, findAccess } from '../authorization/lookup'
import { selfRegisteredShare } from '../authorization/self-registered-share'
import type { AuthorizationStore } from '../authorization/store'
import { isDynamicClientId } from '../clients/dynamic-registration/client-id'
import type { ServerSettings } from '../config/settings'
import { isForCertainResources } from '../extensions/resource-indicators/resource-indicators'
import { isRegisteredByHost } from '../protocol/client'
import { consentsWithDeadline, indexWithDeadline } from '../stores/deadline'
import { noteForHost, notingUses } from '../stores/noting-uses'
import { ownWrites } from '../stores/own-writes'
import { authorizationsIn } from '../stores/records'
import type { ServerStore } from '../doors/context'

export function openStore(settings: ServerSettings, issuerDigest: string): ServerStore {
  const { authorizations, clock, lifetimes, plugIns, rememberConsent, storeDeadline } = settings
  const { noteClientUse, registeredUses, dynamicRegistration } = settings
  const now = secondsOf(clock)
  const notes = [
    registeredUses?.note,
    noteClientUse && noteForHost(noteClientUse),
    dynamicRegistration?.uses.note,
  ].filter((note) => note !== undefined)
  const noting = notingUses(authorizationsIn(settings.store, clock), notes)
  const { store: plain, takeCached } = ownWrites(storeOfIssuer(noting, issuerDigest))
  const isIndexed = authorizations || plugIns.indexSeconds !== undefined
  const found = isIndexed ? settings.givenStore.index : undefined
  const index = found && withOpenId(indexWithDeadline(found, storeDeadline))
  const listed = authorizations ? index : undefined
  const requestLifetime = lifetimes.authorizationRequest
  const clientMarks = listed && new ClientMarks({ index: listed, issuerDigest, clock, requestLifetime })
  const marked = clientMarks?.forEndpoints(plain) ?? plain
  const store =
    index === undefined
      ? marked
      : indexing(marked, {
          index,
          now: () => clock() / 1000,
          patience: storeDeadline,
          lifetimes,
          leastSeconds: plugIns.indexSeconds ?? 0,
          requireRoom: shareOf(settings, { index, store: marked, now }),
        })
  const { consents } = settings.givenStore
  const consentStore = consents && consentsWithDeadline(consents, storeDeadline)
  const revokedBefore = clientMarks && ((clientId: string) => clientMarks.read(clientId))
  return {
    ...store,
    findAccess: ownAccess(store, settings),
    takeCached: clientMarks === undefined ? takeCached : (id) => clientMarks.known(takeCached(id)),
    index,
    clientMarks,
    indexedSince: listed && indexedSince(listed, issuerDigest, settings),
    consents:
      rememberConsent && consentStore
        ? new ConsentMemory({ store: consentStore, issuerDigest, ...rememberConsent, now, revokedBefore })
        : undefined,
    consentStore,
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
