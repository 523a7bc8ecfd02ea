import { createId, type Random } from '../protocol/credential'
import { OAuthError, Throttled } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { type AuthorizationStore, confirmAbsence, type StoredAuthorization } from './store'
import type { Authorization } from './authorization'
import { isUsedOnce, tombstoneOf, ignoreTombstone } from './one-time-use'
import type { Action, CompleteResult, OnCommitted, Transition } from './transition'

interface CommitTerms<Outcome> {
  /**
   * Replaces the first read. Only a successful save proves it current: for any other action, the loop reads the store
   * and decides again.
   */
  readonly cached?: StoredAuthorization | undefined
  readonly onCommitted?: OnCommitted | undefined
  /** Runs before the write, which succeeds only on the record of this round, however long it takes. */
  readonly complete?: CompleteResult<Outcome> | undefined
  /** Uses up what counts once in the request, before a write that gives something or ends the record. */
  readonly useUp?: (() => Promise<void>) | undefined
}

// Few writers change one record at the same time: 16 rounds are enough.
const rounds = 16

/**
 * Compare-and-set on the revision; a conflict begins the next round with a new read.
 *
 * @throws OAuthError the refusal of the transition, after its write; `temporarily_unavailable` after 16 rounds.
 */
export async function commit<Outcome>(
  store: AuthorizationStore,
  id: string,
  transition: Transition<Outcome>,
  random: Random,
  { cached, onCommitted, complete, useUp }: CommitTerms<Outcome> = {},
): Promise<Outcome> {
  let superseded: Authorization | undefined
  for (let round = 0; round < rounds; round++) {
    const unconfirmed = round === 0 ? cached : undefined
    const found = unconfirmed ?? (await store.find(id))
    const current = ignoreTombstone(found?.authorization)
    const decided = transition(current, superseded)
    if (unconfirmed !== undefined && decided.action !== 'save') continue
    const result = complete === undefined || 'refusal' in decided ? decided : await complete(decided, current)
    // A replay of a code ends the record; a replayed assertion must not.
    if (useUp !== undefined && (!('refusal' in result) || result.action === 'delete')) await useUp()
    if (await tryWrite(store, id, result, found, random)) {
      onCommitted?.({ authorization: current, event: result.event })
      if ('refusal' in result) throw result.refusal
      return result.outcome
    }
    superseded = found?.authorization
  }
  throw refused('record_contended')
}

function tryWrite(
  store: AuthorizationStore,
  id: string,
  result: Action,
  found: StoredAuthorization | undefined,
  random: Random,
): Promise<boolean> {
  if (result.action === 'none') return Promise.resolve(true)
  if (result.action === 'save') return trySave(store, result.authorization, createId(random), found?.revision)
  // Without a found record, removes nothing: another issuer may own the record of this id.
  if (result.action === 'delete' && found !== undefined) return tryRevoke(store, found, random)
  // A save with the same revision changes nothing, but a store waits for its replicas again.
  if (found !== undefined) return trySave(store, found.authorization, found.revision, found.revision)
  return confirmAbsence(store, id)
}

// A removed record would make a one-time use, such as an assertion, good again.
export async function tryRevoke(
  store: AuthorizationStore,
  { authorization, revision }: StoredAuthorization,
  random: Random,
): Promise<boolean> {
  if (isUsedOnce(authorization)) return trySave(store, tombstoneOf(authorization), createId(random), revision)
  await end(store, authorization.id)
  return true
}

// A failed save may have lost only its reply. The second one, which expects the new revision, succeeds only in that
// case. Otherwise, the retry of an honest client would look like a replay. A read would not wait for replicas.
function trySave(
  store: AuthorizationStore,
  authorization: Authorization,
  revision: string,
  expected: string | undefined,
): Promise<boolean> {
  return store.save(authorization, revision, expected).catch(async (error: unknown) => {
    // The record of the owner refused, or a share is used up: nothing was saved.
    if (error instanceof Throttled) throw error
    if (error instanceof OAuthError && error.code !== 'temporarily_unavailable') throw error
    if (await store.save(authorization, revision, revision).catch(() => false)) return true
    throw error
  })
}

/**
 * Tries once more, because only the reply may be lost. Later requests find no record: only the remover reports the
 * revocation, or both of two parallel ones.
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
 * Ends an authorization that was found, or one whose record may be on its way. A one-time use stays used.
 *
 * @param found undefined also for a record that cannot be read.
 */
export async function endFound(
  store: AuthorizationStore,
  id: string,
  found: Authorization | undefined,
  random: Random,
): Promise<void> {
  if (isUsedOnce(found)) await commit(store, id, () => ({ action: 'delete', outcome: undefined }), random)
  else await end(store, id)
}

export function begin(
  store: AuthorizationStore,
  authorization: Authorization,
  random: Random,
  ifThere: () => Error = idRefused,
): Promise<void> {
  return trySave(store, authorization, createId(random), undefined).then((isSaved) => {
    if (!isSaved) throw ifThere()
  })
}

// Two random ids are never equal: the store or the random source is broken.
const idRefused = () =>
  new Error(
    'The store saved no authorization under a new random id. Either its save() does not resolve to true although no record is there, which checkAuthorizationStore() of express-authorization-server/testing shows, or the source of random bytes repeats itself.',
  )
