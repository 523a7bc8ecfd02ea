import { createId, type Random } from '../protocol/credential'
import { OAuthError, temporarilyUnavailable, Throttled } from '../protocol/oauth-error'
import { type AuthorizationStore, confirmAbsence, type StoredAuthorization } from './store'
import type { Authorization } from './authorization'
import { isUsedOnce, tombstoneOf, ignoreTombstone } from './one-time-use'
import type { Action, CompleteResult, OnCommitted, Transition } from './transition'

// A conflict means that another writer has changed the record. Few writers change one record at the same time, so
// 16 rounds are enough.
const rounds = 16

/**
 * Changes an existing authorization: reads the record, applies the transition, and saves the result if the record still
 * has the revision that the loop read (compare-and-set). After a conflict, the loop begins again with a new read.
 *
 * @param cached the record that replaces the first read. The record may be out of date, and only a compare-and-set save
 * proves that it is current. If the transition wants anything but a save, the loop reads the store and decides again.
 * @param onCommitted gets the transition after its write has succeeded.
 * @param complete completes the outcome before the write. However long it takes, the write succeeds only on the record
 * that this round has read.
 * @param useUp uses up what counts once in the request, before a write that gives something or ends the record.
 * @throws OAuthError the refusal of the transition, after the write of the transition has succeeded;
 * `temporarily_unavailable` after 16 rounds without success.
 */
export async function commit<Outcome>(
  store: AuthorizationStore,
  id: string,
  transition: Transition<Outcome>,
  random: Random,
  cached?: StoredAuthorization,
  onCommitted?: OnCommitted,
  complete?: CompleteResult<Outcome>,
  useUp?: () => Promise<void>,
): Promise<Outcome> {
  let superseded: Authorization | undefined
  for (let round = 0; round < rounds; round++) {
    const unconfirmed = round === 0 ? cached : undefined
    const found = unconfirmed ?? (await store.find(id))
    const current = ignoreTombstone(found?.authorization)
    const decided = transition(current, superseded)
    if (unconfirmed !== undefined && decided.action !== 'save') continue
    const result = complete === undefined || 'refusal' in decided ? decided : await complete(decided, current)
    // A replay ends the record, and a replayed assertion must not.
    if (useUp !== undefined && (!('refusal' in result) || result.action === 'delete')) await useUp()
    if (await tryWrite(store, id, result, found, random)) {
      onCommitted?.({ authorization: current, event: result.event })
      if ('refusal' in result) throw result.refusal
      return result.outcome
    }
    superseded = found?.authorization
  }
  throw temporarilyUnavailable('authorization_contended', 'The authorization is in use; try again.')
}

async function tryWrite(
  store: AuthorizationStore,
  id: string,
  result: Action,
  found: StoredAuthorization | undefined,
  random: Random,
): Promise<boolean> {
  if (result.action === 'none') return true
  if (result.action === 'save') return trySave(store, result.authorization, createId(random), found?.revision)
  // Without a record of this issuer, the loop removes nothing: the record under this id may belong to another issuer.
  if (result.action === 'delete' && found !== undefined) return tryRevoke(store, found, random)
  // A save with the same revision changes nothing. A store that waits for replicas waits for them again.
  if (found !== undefined) return trySave(store, found.authorization, found.revision, found.revision)
  return confirmAbsence(store, id)
}

// An authorization that began with a one-time use keeps its record, without credentials: a removed record would make
// the same assertion good again.
async function tryRevoke(
  store: AuthorizationStore,
  { authorization, revision }: StoredAuthorization,
  random: Random,
): Promise<boolean> {
  if (isUsedOnce(authorization)) return trySave(store, tombstoneOf(authorization), createId(random), revision)
  await end(store, authorization.id)
  return true
}

// If a save fails, the store may have saved the record and lost only the reply. A second save, with the new revision as
// the expected one, succeeds only in that case. Without this check, the retry of an honest client would look like a
// replay. A save is better than a read here: a store that waits for replicas waits for them again.
async function trySave(
  store: AuthorizationStore,
  authorization: Authorization,
  revision: string,
  expected: string | undefined,
): Promise<boolean> {
  try {
    return await store.save(authorization, revision, expected)
  } catch (error) {
    // The index of the owner refused the record, or a share is used up: nothing was saved.
    if (error instanceof Throttled) throw error
    if (error instanceof OAuthError && error.code !== 'temporarily_unavailable') throw error
    if (await store.save(authorization, revision, revision).catch(() => false)) return true
    throw error
  }
}

/**
 * Removes an authorization. After a failure, tries once more, because the store may have lost only the reply. Later
 * requests find no record, so only the request that removes the record can report the revocation. Of two parallel
 * requests, both may report it.
 *
 * @throws the error of the first attempt, if both fail.
 */
export async function end(store: AuthorizationStore, id: string): Promise<void> {
  try {
    await store.remove(id)
  } catch (error) {
    await store.remove(id).catch(() => {
      throw error
    })
  }
}

/**
 * Stores a new authorization.
 *
 * @param ifThere makes the error that `begin` throws if the store has a record under this id.
 */
export async function begin(
  store: AuthorizationStore,
  authorization: Authorization,
  random: Random,
  ifThere: () => Error = idRefused,
): Promise<void> {
  if (!(await trySave(store, authorization, createId(random), undefined))) throw ifThere()
}

// Ids have 16 random bytes, and chance practically never makes two equal ones. So either the store or the source of
// random bytes is broken.
const idRefused = () =>
  new Error(
    'The store saved no authorization under a new random id. Either its save() does not resolve to true although no record is there, which checkAuthorizationStore() of express-authorization-server/testing shows, or the source of random bytes repeats itself.',
  )
