import { inTurns } from '../primitives/in-turns'
import { secureRandom } from '../protocol/credential'
import { dataOf } from '../protocol/extension-data'
import { overLimit, refused } from '../protocol/refusals'
import { type Authorization, expiryOf, type Granted, isGranted } from './authorization'
import { endFound, tryRevoke } from './commit'
import type { Lifetimes } from './lifetimes'
import { ignoreTombstone, isUsedOnce } from './one-time-use'
import type { OwnerEntry } from './owner-record'
import { entriesOfClientAtMost, namesIn, ownerName, type Owners } from './owners'
import { type AuthorizationStore, decorate } from './store'

/**
 * Among the data of extensions: before the entry, the names that were read with the owner; after it, the end of the
 * entry.
 */
export const entryName = 'authorization-index'

type NewApproval = Pick<Authorization, 'issuerDigest' | 'clientId'> & { readonly subject: string }

/** @throws OAuthError if the owner has no room for the client. */
export type RequireRoom = (approval: NewApproval) => Promise<void>

interface EntryTerms {
  readonly owners: Owners
  /** Seconds since the epoch, with their fraction. */
  readonly now: () => number
  readonly lifetimes: Lifetimes
  /** The shortest life of an entry with `openid`. */
  readonly leastSeconds: number
  /** Undefined if owners have room for every client. */
  readonly requireRoom: RequireRoom | undefined
}

/** The names that were read with the owner of a request that waits; undefined for none. */
export function namesOf({ extensionData }: Pick<Authorization, 'extensionData'>): string | undefined {
  const names = dataOf(entryName, extensionData)
  return typeof names === 'string' ? names : undefined
}

/** A request that gets its owner carries the names of this moment. */
export function naming(store: AuthorizationStore, owners: Owners): AuthorizationStore {
  return decorate(store, {
    async save(authorization, revision, expected) {
      const owner = ownerOf(authorization)
      if (
        owner === undefined ||
        isGranted(authorization) ||
        dataOf(entryName, authorization.extensionData) !== undefined
      )
        return store.save(authorization, revision, expected)
      return store.save(withData(authorization, namesIn(await owners.read(owner))), revision, expected)
    },
  })
}

/**
 * Adds an entry to the record of the owner before the authorization exists. The authorization has the end of its
 * entry: a refresh writes an entry only if the authorization would outlive it.
 */
export function entering(store: AuthorizationStore, terms: EntryTerms): AuthorizationStore {
  const { owners } = terms
  return decorate(store, {
    async save(authorization, revision, expected) {
      const owner = ownerOf(authorization)
      const isEntered = enteredUntil(authorization) >= expiryOf(authorization)
      if (owner === undefined || isEntered || !isGranted(authorization))
        return store.save(authorization, revision, expected)
      const { requireRoom } = terms
      if (requireRoom !== undefined && isNewApproval(authorization)) await requireRoom(authorization)
      const entry = entryOf(authorization, terms)
      // An approval without a page has no names. Nor has an authorization from before the option: it ends if the owner
      // has ended everything since.
      const began = namesOf(authorization) ?? (isNewApproval(authorization) ? authorization.grantedAt : '.')
      const enter = () => owners.enter(owner, entry, isReentered(authorization) ? undefined : began)
      let outcome = await enter()
      if (outcome === 'full' && (await makeRoom(store, owner, entry.clientId, terms))) outcome = await enter()
      if (outcome === 'entered') return store.save(withData(authorization, entry.until), revision, expected)
      if (outcome === 'full') throw overLimit('owner_share_full', 60)
      if (authorization.state !== 'active') throw refused('authorizations_revoked/request')
      // The owner's record lacked it when the owner ended everything.
      if (expected !== undefined) await tryRevoke(store, { authorization, revision: expected }, secureRandom)
      throw refused('authorizations_revoked')
    },
  })
}

const withData = <Kept extends Authorization>(authorization: Kept, data: string | number): Kept => ({
  ...authorization,
  extensionData: { ...authorization.extensionData, [entryName]: data },
})

function ownerOf(authorization: Authorization): string | undefined {
  const { subject, issuerDigest } = authorization
  return subject === undefined || ignoreTombstone(authorization) === undefined
    ? undefined
    : ownerName(issuerDigest, subject)
}

/** Whether the authorization of an entry lives, and is of this owner. */
export const isHeldBy = (owner: string, found: Authorization | undefined, now: number): boolean =>
  found !== undefined && ownerOf(found) === owner && expiryOf(found) > now

function enteredUntil({ extensionData }: Authorization): number {
  const until = dataOf(entryName, extensionData)
  return typeof until === 'number' ? until : -Infinity
}

// It had an entry, which a revocation of everything found.
const isReentered = (authorization: Authorization): boolean => enteredUntil(authorization) > -Infinity

function entryOf(authorization: Granted, { now, lifetimes, leastSeconds }: EntryTerms): OwnerEntry {
  const { id: authorizationId, clientId, scope } = authorization
  const openId = scope.includes('openid')
  const { accessToken, refreshToken, authorizationCode, authorizationRequest } = lifetimes
  // Twice the longest lifetime: often refreshed authorizations write their entry once in this time.
  const longest = Math.max(accessToken, refreshToken) + authorizationCode + authorizationRequest
  const at = Math.floor(now())
  const until = Math.max(at + 2 * longest, at + (openId ? leastSeconds : 0), expiryOf(authorization))
  return { authorizationId, clientId, openId, until }
}

// An authorization from before the option gets its entry at the next refresh, and is no new approval.
function isNewApproval(authorization: Authorization): authorization is Authorization & NewApproval {
  if (authorization.subject === undefined || isReentered(authorization)) return false
  return (
    authorization.state !== 'active' ||
    (authorization.spentCode === undefined && (authorization.refreshToken?.generation ?? 0) === 0)
  )
}

/**
 * Drops the entries of authorizations that are gone. If none is, ends the oldest one: an approval that was not redeemed
 * or gave no refresh token, else of the client that has most.
 */
async function makeRoom(
  store: AuthorizationStore,
  owner: string,
  clientId: string,
  { owners, now }: EntryTerms,
): Promise<boolean> {
  const { entries } = await owners.read(owner)
  const own = entries.filter((entry) => entry.clientId === clientId)
  const looked = await inTurns(own.length >= entriesOfClientAtMost ? own : entries, async (entry) => ({
    ...entry,
    found: (await store.find(entry.authorizationId))?.authorization,
  }))
  const gone = looked.filter(({ found }) => !isHeldBy(owner, found, now()))
  const ending = gone.length > 0 ? gone : givingWay(looked)
  await inTurns(ending, async ({ authorizationId, found }) => {
    const isOther = !isUsedOnce(found) && found?.subject !== undefined && ownerOf(found) !== owner
    // A one-time use stays used. The record of an approval may be on its way: the mark of the removal refuses it.
    if (!isOther && !(gone.length > 0 && isUsedOnce(found)))
      await endFound(store, authorizationId, found, secureRandom)
  })
  await owners.drop(
    owner,
    ending.map(({ authorizationId }) => authorizationId),
  )
  return ending.length > 0
}

interface LookedAt extends OwnerEntry {
  readonly found: Authorization | undefined
}

function givingWay(entries: readonly LookedAt[]): readonly LookedAt[] {
  const unheld = entries.find(({ found }) => found?.state !== 'active' || found.refreshToken === undefined)
  if (unheld !== undefined) return [unheld]
  const counts = new Map<string, number>()
  for (const { clientId } of entries) counts.set(clientId, (counts.get(clientId) ?? 0) + 1)
  const most = Math.max(...counts.values())
  return entries.filter(({ clientId }) => counts.get(clientId) === most).slice(0, 1)
}
