import type { Authorization } from '../../authorization/authorization'
import type { AuthorizationStore, StoredAuthorization } from '../../stores/authorization-store'
import { activeRecord, approvedRecord, inSeconds, pendingRecord, random22 } from './examples'

/** What a writer wants stored: the authorization, and the revision that it made for this write. */
export function version(authorization: Authorization): StoredAuthorization {
  return { authorization, revision: random22() }
}

/** One authorization as it moves on, under one id. */
export function threeVersions(): readonly [StoredAuthorization, StoredAuthorization, StoredAuthorization] {
  const id = random22()
  const expiresAt = inSeconds(600)
  return [
    version(pendingRecord(expiresAt, { id })),
    version(approvedRecord(expiresAt, { id })),
    version(activeRecord(expiresAt, { id })),
  ]
}

/** Saves a version in the place of the one that its writer had found; of none, to create. */
export function saveRecord(
  store: AuthorizationStore,
  { authorization, revision }: StoredAuthorization,
  found?: StoredAuthorization,
): Promise<boolean> {
  return store.save(authorization, revision, found?.revision)
}

/** What the store has now where this version was, is or might be. */
export function findRecord(
  store: AuthorizationStore,
  { authorization }: StoredAuthorization,
): Promise<StoredAuthorization | undefined> {
  return store.find(authorization.id)
}
