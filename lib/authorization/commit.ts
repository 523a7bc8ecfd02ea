import { createId, type Random } from '../protocol/credential'
import { OAuthError, temporarilyUnavailable } from '../protocol/oauth-error'
import {
  type AuthorizationStore,
  confirmAbsence,
  type StoredAuthorization,
} from '../stores/authorization-store'
import type { Authorization } from './authorization'
import { isUsedOnce, remainsOf, unlessRemains } from './one-time-use'
import type { Action, OnCommitted, Transition } from './transition'

// A conflict means that another writer moved the record on, so rounds are bounded by the moves a record has.
const rounds = 16

/**
 * The only way an existing authorization changes: read it, apply the transition, save on condition that the
 * record is still the one that was read, and after a conflict begin again with what is there now.
 *
 * @param cached what the caller believes to be there, in place of the first read. Only a save on condition that it is
 * still there can show that it was true: whatever else the transition decides on it is decided anew, on what is read then.
 * @param onCommitted hears of the transition once it is written.
 * @throws OAuthError the refusal of the transition, after what it wanted written is written.
 */
export async function commit<Outcome>(
  store: AuthorizationStore,
  id: string,
  transition: Transition<Outcome>,
  random: Random,
  cached?: StoredAuthorization,
  onCommitted?: OnCommitted,
): Promise<Outcome> {
  let superseded: Authorization | undefined
  for (let round = 0; round < rounds; round++) {
    const unproven = round === 0 ? cached : undefined
    const found = unproven ?? (await store.find(id))
    const current = unlessRemains(found?.authorization)
    const result = transition(current, superseded)
    if (unproven !== undefined && result.action !== 'save') continue
    if (await written(store, id, result, found, random)) {
      onCommitted?.({ authorization: current, event: result.event })
      return delivered(result.outcome)
    }
    superseded = found?.authorization
  }
  throw temporarilyUnavailable('authorization_contended', 'The authorization is in use; try again.')
}

function delivered<Outcome>(outcome: Outcome | OAuthError): Outcome {
  if (outcome instanceof OAuthError) throw outcome
  return outcome
}

async function written(
  store: AuthorizationStore,
  id: string,
  result: Action,
  found: StoredAuthorization | undefined,
  random: Random,
): Promise<boolean> {
  if (result.action === 'none') return true
  if (result.action === 'save') return saved(store, result.authorization, createId(random), found?.revision)
  // Nothing that was found is nothing to remove: under this id the record of another issuer may stand.
  if (result.action === 'delete' && found !== undefined) return removed(store, found, random)
  if (found !== undefined) return saved(store, found.authorization, found.revision, found.revision)
  return confirmAbsence(store, id)
}

// What began with a one-time use leaves the use behind: with the whole record gone, the same assertion would be good again.
async function removed(
  store: AuthorizationStore,
  { authorization, revision }: StoredAuthorization,
  random: Random,
): Promise<boolean> {
  if (isUsedOnce(authorization)) return saved(store, remainsOf(authorization), createId(random), revision)
  await end(store, authorization.id)
  return true
}

// When only the reply was lost, the record tells: else an honest client's retry would pass for a replay. The same save on
// condition that it was done tells most: a store that waits for replicas waits for them again, where a look would not.
async function saved(
  store: AuthorizationStore,
  authorization: Authorization,
  revision: string,
  expected: string | undefined,
): Promise<boolean> {
  try {
    return await store.save(authorization, revision, expected)
  } catch (trouble) {
    if (await store.save(authorization, revision, revision).catch(() => false)) return true
    throw trouble
  }
}

/**
 * Removes an authorization. A removal whose reply was lost is made once more: the request that ended an authorization is
 * the only one that can report it, because every later one finds nothing. Of two racing requests both may report it.
 */
export async function end(store: AuthorizationStore, id: string): Promise<void> {
  try {
    await store.remove(id)
  } catch (trouble) {
    await store.remove(id).catch(() => {
      throw trouble
    })
  }
}

/**
 * Stores an authorization that begins with this request.
 *
 * @param ifThere makes the error for an id that is taken.
 */
export async function begin(
  store: AuthorizationStore,
  authorization: Authorization,
  random: Random,
  ifThere: () => Error = randomRepeated,
): Promise<void> {
  if (!(await saved(store, authorization, createId(random), undefined))) throw ifThere()
}

// The id is 16 random bytes: a record that is there already means a broken random source, not a collision.
const randomRepeated = () =>
  new Error(
    'An authorization with a new random id exists already: the source of random bytes repeats itself.',
  )
