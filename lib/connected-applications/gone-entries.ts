import type { Authorization } from '../authorization/authorization'
import { confirmAbsence } from '../authorization/store'
import { BoundedMap } from '../primitives/bounded-map'
import { inTurns } from '../primitives/in-turns'
import type { Context, Settings } from '../doors/context'
import type { PageOptions } from '../pages/page-options'
import type { ResolvedAuthorizations } from './authorizations-options'

/**
 * Reads the records of entries: undefined for each that is missing. Removes entries whose records are gone
 * for good.
 *
 * @param owner as `ownerName` gives it.
 */
export type ReadEntries = (
  owner: string,
  authorizationIds: readonly string[],
) => Promise<readonly (Authorization | undefined)[]>

// Ids not found. Beyond, the oldest are forgotten, and looked up again.
const notedAtMost = 20_000

/**
 * The entry of a new authorization precedes its record. So an entry goes only after two looks without a
 * record, further apart than a creation takes: three calls of the store. A replica may lag: the store
 * confirms the absence.
 */
export function entryReader({ settings: { storeDeadline }, store, now }: ListingContext): ReadEntries {
  const firstMissed = new BoundedMap<number>(notedAtMost)
  // `now` is in whole seconds.
  const patience = 3 * storeDeadline + 1

  const isGone = (id: string): boolean => {
    const missedAt = firstMissed.get(id)
    if (missedAt === undefined) firstMissed.put(id, now())
    return missedAt !== undefined && now() - missedAt > patience
  }

  const removeGone = async (owner: string, missing: readonly string[]): Promise<void> => {
    const gone = missing.filter(isGone)
    if (gone.length === 0) return
    try {
      const confirmed = await inTurns(gone, (id) => confirmAbsence(store, id))
      await store.owners.drop(
        owner,
        gone.filter((_, at) => confirmed[at]),
      )
      for (const id of gone) firstMissed.delete(id)
    } catch {
      // The reader has its list. The next one tries again.
    }
  }
  return async (owner, authorizationIds) => {
    const found = await inTurns(authorizationIds, async (id) => (await store.find(id))?.authorization)
    await removeGone(
      owner,
      authorizationIds.filter((_, at) => found[at] === undefined),
    )
    return found
  }
}

export interface ListingContext extends Context {
  readonly settings: Settings & ResolvedAuthorizations & { readonly connectedPage: PageOptions['connected'] }
}
