import { createId, type Random } from '../protocol/credential'
import { OAuthError, Throttled } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { type AuthorizationStore, confirmAbsence, type StoredAuthorization } from './store'
import { type Authorization, isUsedOnce, tombstoneOf, ignoreTombstone } from './authorization'
import type { Action, CompleteResult, OnCommitted, Transition } from './transition'

interface CommitTerms<Outcome> {
  /** In place of the first read. Only a successful save proves it current: else the loop reads the store. */
  readonly cached?: StoredAuthorization | undefined
  readonly onCommitted?: OnCommitted | undefined
  /** Runs before the write, which succeeds only on the record of this round. */
  readonly complete?: CompleteResult<Outcome> | undefined
  /** Uses up what counts once in the request, before a write that gives something or ends the record. */
  readonly useUp?: (() => Promise<void>) | undefined
}

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
    // What was used once begins no second record.
    if (decided.action === 'save' && current === undefined && found !== undefined)
      throw refused('grant_used_up')
    const result = complete === undefined || 'refusal' in decided ? decided : await complete(decided, current)
    // A replay of a code ends the record; a replayed assertion must not.
    if (useUp !== undefined && (!('refusal' in result) || result.action === 'delete')) await useUp()
    const write = writeOf(result, found, random)
    let isDone = true
    try {
      if (write !== undefined) isDone = await send(store, id, write)
    } catch (error) {
      await requireSaved(store, write, error)
    }
    if (isDone) {
      const authorization = current ?? ('authorization' in result ? result.authorization : undefined)
      onCommitted?.({ authorization, event: result.event })
      if ('refusal' in result) throw result.refusal
      return result.outcome
    }
    superseded = found?.authorization
  }
  throw refused('record_contended')
}

interface Save {
  readonly authorization: Authorization
  readonly revision: string
  readonly expected: string | undefined
}

type Write = Save | 'remove' | 'confirm absence' | undefined

function writeOf(result: Action, found: StoredAuthorization | undefined, random: Random): Write {
  const expected = found?.revision
  if (result.action === 'none') return undefined
  if (result.action === 'save')
    return { authorization: result.authorization, revision: createId(random), expected }
  // Removes nothing: another issuer may own the record of this id.
  if (found === undefined) return 'confirm absence'
  const { authorization, revision } = found
  // A save with the same revision only makes a store wait for its replicas again.
  if (result.action === 'touch') return { authorization, revision, expected }
  // A removed record would make a one-time use good again.
  return isUsedOnce(authorization)
    ? { authorization: tombstoneOf(authorization), revision: createId(random), expected }
    : 'remove'
}

function send(store: AuthorizationStore, id: string, write: NonNullable<Write>): Promise<boolean> {
  if (write === 'confirm absence') return confirmAbsence(store, id)
  if (write === 'remove') return end(store, id).then(() => true)
  return store.save(write.authorization, write.revision, write.expected)
}

// A failed save may have lost only its reply: the second one, which expects the new revision, then succeeds. Else the
// retry of an honest client would look like a replay. A read waits for no replicas.
async function requireSaved(store: AuthorizationStore, write: Write, error: unknown): Promise<void> {
  // Nothing was saved.
  const isRefusal =
    error instanceof Throttled || (error instanceof OAuthError && error.code !== 'temporarily_unavailable')
  if (typeof write !== 'object' || isRefusal) throw error
  const { authorization, revision } = write
  if (!(await store.save(authorization, revision, revision).catch(() => false))) throw error
}

/**
 * Tries once more, because only the reply may be lost.
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

/** @param found undefined also for a record that cannot be read or is on its way. */
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
  const save = { authorization, revision: createId(random), expected: undefined }
  const requireNew = (isSaved: boolean): void => {
    if (!isSaved) throw ifThere()
  }
  return store
    .save(authorization, save.revision)
    .then(requireNew, (error: unknown) => requireSaved(store, save, error))
}

// Two random ids are never equal: the store or the random source is broken.
const idRefused = () =>
  new Error(
    'The store saved no authorization under a new random id. Either its write() does not resolve to true although no record is there, which checkStore() of express-authorization-server/testing shows, or the source of random bytes repeats itself.',
  )
