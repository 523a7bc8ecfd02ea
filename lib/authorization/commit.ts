import { createId, type Random } from '../protocol/credential'
import { OAuthError, temporarilyUnavailable } from '../protocol/oauth-error'
import type { AuthorizationStore } from '../stores/authorization-store'
import type { Authorization } from './authorization'
import type { Transition } from './step'

// A conflict means that another writer moved the record on, so rounds are bounded by the moves a record has.
const rounds = 16

/**
 * The only way an existing authorization changes: read it, apply the transition, save on condition that the
 * record is still the one that was read, and after a conflict begin again with what is there now.
 *
 * @throws OAuthError the refusal of the transition, after what it wanted written is written.
 */
export async function commit<Outcome>(
  store: AuthorizationStore,
  id: string,
  transition: Transition<Outcome>,
  random: Random,
): Promise<Outcome> {
  for (let round = 0; round < rounds; round++) {
    const found = await store.find(id)
    const { write, outcome } = transition(found?.authorization)
    if (write === 'removal') await store.remove(id)
    const done = typeof write === 'string' || (await store.save(write, createId(random), found?.revision))
    if (!done) continue
    if (outcome instanceof OAuthError) throw outcome
    return outcome
  }
  throw temporarilyUnavailable('authorization_contended', 'The authorization is in use; try again.')
}

/** Stores an authorization that begins with this request. */
export async function begin(
  store: AuthorizationStore,
  authorization: Authorization,
  random: Random,
): Promise<void> {
  // The id is 16 random bytes: a record that is there already means a broken random source, not a collision.
  if (!(await store.save(authorization, createId(random))))
    throw new Error(
      `An authorization with a new random id exists already: the source of random bytes repeats itself.`,
    )
}
