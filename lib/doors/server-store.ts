import type { OwnerIndex } from '../authorization/authorization-index'
import type { ClientMarks } from '../authorization/client-marks'
import type { ConsentMemory } from '../authorization/consent-memory'
import type { ConsentStore } from '../authorization/consent-store'
import type { IndexedSince } from '../authorization/indexed-since'
import type { FindAccess } from '../authorization/lookup'
import type { AuthorizationStore, StoredAuthorization } from '../authorization/store'

/** The records of one issuer, and what is stored beside them. */
export interface ServerStore extends AuthorizationStore {
  readonly findAccess: FindAccess
  /** What this process wrote last. Only a save with the same expected revision may rest on it. */
  readonly takeCached: (id: string) => StoredAuthorization | undefined
  readonly index: OwnerIndex | undefined
  /** Undefined without the option `authorizations`. */
  readonly clientMarks: ClientMarks | undefined
  /** Undefined without the option `authorizations`. */
  readonly indexedSince: IndexedSince | undefined
  readonly consents: ConsentMemory | undefined
  /** Also without the option `rememberConsent`. */
  readonly consentStore: ConsentStore | undefined
}
