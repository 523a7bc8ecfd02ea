import { secondsOf } from '../primitives/clock'
import { ConsentMemory } from '../authorization/remembered-consent'
import { indexedSince, type SelfRegisteredShare, withOwners } from '../authorization/owner-entries'
import { Owners } from '../authorization/owners'
import { ClientMarks } from '../authorization/client-marks'
import { accessFinder, type FindAccess } from '../authorization/lookup'
import type { AuthorizationStore } from '../authorization/store'
import { isDynamicClientId } from '../clients/dynamic-registration/dynamic-clients'
import type { ServerSettings } from '../config/resolve-options'
import { isForCertainResources } from '../extensions/resource-indicators/resource-indicators'
import { authorizationsIn, isUse, type NoteUse, ownWrites } from '../stores/records'
import type { ServerStore } from '../doors/context'

export function openStore(settings: ServerSettings, issuerDigest: string): ServerStore {
  const { authorizations, clock, lifetimes, plugins, rememberConsent } = settings
  const { clientRegistry, dynamicRegistration } = settings
  const now = secondsOf(clock)
  const notes: NoteUse[] = []
  if (clientRegistry !== undefined)
    notes.push((used) => (isUse(used) ? clientRegistry.noteUse(used.clientId, now()) : undefined))
  if (dynamicRegistration !== undefined) notes.push(dynamicRegistration.noteUse)
  const records = authorizationsIn(settings.store, clock, issuerDigest)
  const { store: plain, takeCached } = ownWrites(records, notes)
  const requestLifetime = lifetimes.authorizationRequest
  // A removed client may register again: what it was granted before must stay dead.
  const mayHaveMark = authorizations ? undefined : isDynamicClientId
  const clientMarks =
    authorizations || dynamicRegistration !== undefined
      ? new ClientMarks({ store: settings.store, issuerDigest, clock, requestLifetime, mayHaveMark })
      : undefined
  const marked = clientMarks?.forEndpoints(plain) ?? plain
  const owners = new Owners(settings.store, issuerDigest, now, requestLifetime, dynamicRegistration?.left)
  const listsOwners = authorizations || plugins.indexSeconds !== undefined
  const terms = {
    owners,
    now: () => clock() / 1000,
    lifetimes,
    leastSeconds: plugins.indexSeconds ?? 0,
    share: shareOf(settings),
  }
  const store =
    listsOwners || rememberConsent !== undefined
      ? withOwners(marked, owners, listsOwners ? terms : undefined)
      : marked
  const revokedBefore = clientMarks && ((clientId: string) => clientMarks.read(clientId))
  return {
    ...store,
    findAccess: ownAccess(store, settings),
    takeCached: clientMarks === undefined ? takeCached : (id) => clientMarks.known(takeCached(id)),
    underlying: settings.store,
    owners,
    listsOwners,
    clientMarks,
    indexedSince: authorizations ? indexedSince(settings.store, issuerDigest, settings) : undefined,
    consents: rememberConsent && new ConsentMemory({ owners, ...rememberConsent, now, revokedBefore }),
  }
}

function ownAccess(store: AuthorizationStore, { accessTokenFormats, resources }: ServerSettings): FindAccess {
  // A cache may be behind, and guards alone trust it.
  const find = accessFinder({ ...store, getCached: undefined }, accessTokenFormats)
  return async (accessToken, now) => {
    const found = await find(accessToken, now)
    if (found === undefined) return undefined
    return resources === undefined && isForCertainResources(found) ? undefined : found
  }
}

function shareOf({
  limits: { selfRegisteredClients: most },
  dynamicRegistration,
  clientMetadata,
}: ServerSettings): SelfRegisteredShare | undefined {
  const hasDocuments = clientMetadata?.['client_id_metadata_document_supported'] === true
  if (most === undefined || (dynamicRegistration === undefined && !hasDocuments)) return undefined
  const isDynamic = (clientId: string) => dynamicRegistration !== undefined && isDynamicClientId(clientId)
  return { most, has: (id) => isDynamic(id) || (hasDocuments && id.startsWith('https://')) }
}
