import { inTurns } from '../primitives/in-turns'
import { isRecord } from '../primitives/values'
import { digest } from '../protocol/credential'
import { dataOf } from '../protocol/extension-data'
import { refused, overLimit } from '../protocol/refusals'
import { type Active, type Authorization, expiryOf, type Granted, isGranted } from './authorization'
import type { Lifetimes } from './lifetimes'
import { ignoreTombstone, isUsedOnce, tombstoneOf } from './one-time-use'
import { type AuthorizationStore, decorate } from './store'

export interface IndexEntry {
  /** 22 characters of base64url. The record may have ended, or may not exist yet. */
  readonly authorizationId: string
  readonly clientId: string
}

export interface OwnerEntry extends IndexEntry {
  /** Whether the scope has `openid`: the client knows who the owner is. */
  readonly openId?: boolean
}

export type OwnerIndex = Omit<AuthorizationIndex, 'add' | 'list'> & {
  add(owner: string, entry: OwnerEntry, terms: EntryTerms): Promise<EntryOutcome>
  list(owner: string): Promise<readonly OwnerEntry[]>
}

// Stands in no client identifier (RFC 6749 appendix A.1).
const openIdMark = '\n'

/** Stores `openid` behind the client identifier: an entry outlives its record. */
export const withOpenId = (index: AuthorizationIndex): OwnerIndex => ({
  ...index,
  add: (owner, { authorizationId, clientId, openId = false }, terms) =>
    index.add(owner, { authorizationId, clientId: openId ? clientId + openIdMark : clientId }, terms),
  list: async (owner) =>
    (await index.list(owner)).map(({ authorizationId, clientId }) =>
      clientId.endsWith(openIdMark)
        ? { authorizationId, clientId: clientId.slice(0, -1), openId: true }
        : { authorizationId, clientId },
    ),
})

export interface EntryTerms {
  /** Seconds from now until the index may forget the entry. */
  readonly seconds: number
  /** Seconds since the owner was read for the approval. */
  readonly age: number
}

/** `marked`: a mark is newer than the approval. `full`: the subject has 10 000 entries. */
export type EntryOutcome = 'added' | 'marked' | 'full'

/**
 * Lists the authorizations of each owner, and marks clients whose authorizations ended together. The server adds an
 * entry before it saves the record, so no live authorization is missing. Each verb is one atomic act on the entries of
 * one owner, or on the mark of one client. A rejected promise means that the store failed.
 */
export interface AuthorizationIndex {
  /**
   * Adds an entry or gives it a new end. Forgets entries of this owner whose end has passed.
   *
   * @param owner names the owner at one issuer: 59 characters of base64url.
   */
  add(owner: string, entry: IndexEntry, terms: EntryTerms): Promise<EntryOutcome>

  /** Resolves to the entries whose end has not passed, in no order. */
  list(owner: string): Promise<readonly IndexEntry[]>

  remove(owner: string, authorizationIds: readonly string[]): Promise<void>

  /** For these seconds, refuses entries whose owner was read before now. The last mark counts. */
  mark(owner: string, seconds: number): Promise<void>

  /**
   * For these seconds at least, what the client was granted at this time or before counts no more. The latest time and
   * the latest end count. A mark has nothing to do with an owner of the same name.
   *
   * @param client names the client at one issuer, in the form of an owner.
   * @param at whole seconds since the epoch, by the clock of the caller.
   */
  revokeClient(client: string, at: number, seconds: number): Promise<void>

  /** Undefined without a mark. */
  revokedBefore(client: string): Promise<number | undefined>
}

export const entriesAtMost = 10_000

export const isAuthorizationIndex = (value: unknown): value is AuthorizationIndex =>
  isRecord(value) && verbs.every((verb) => typeof value[verb] === 'function')

const verbs = ['add', 'list', 'remove', 'mark', 'revokeClient', 'revokedBefore']

export const indexOwner = (issuerDigest: string, subject: string): string => issuerDigest + digest(subject)

/** Among the data of extensions, it names the end of the entry. */
export const indexName = 'authorization-index'

type NewApproval = Pick<Authorization, 'issuerDigest' | 'clientId'> & { readonly subject: string }

/** @throws OAuthError if the owner has no room for the client. */
export type RequireRoom = (approval: NewApproval) => Promise<void>

interface IndexTerms {
  readonly index: OwnerIndex
  /** Seconds since the epoch, with their fraction. */
  readonly now: () => number
  /** Seconds after which a call of the index fails. */
  readonly patience: number
  readonly lifetimes: Lifetimes
  /** The shortest life of an entry with `openid`. */
  readonly leastSeconds: number
  /** Undefined if owners have room for every client. */
  readonly requireRoom: RequireRoom | undefined
}

/**
 * Adds an entry before the record exists. The record has the end of its entry: a refresh writes the index only if the
 * record would outlive the entry.
 */
export function indexing(store: AuthorizationStore, terms: IndexTerms): AuthorizationStore {
  const makeRoom = roomMaker(store, terms)
  return decorate(store, {
    async save(authorization, revision, expected) {
      const owner = ownerInIndex(authorization)
      const isEntered = owner === undefined || indexedUntil(authorization) >= expiryOf(authorization)
      if (isEntered || !isGranted(authorization)) return store.save(authorization, revision, expected)
      const { requireRoom } = terms
      if (requireRoom !== undefined && isNewApproval(authorization)) await requireRoom(authorization)
      const now = Math.floor(terms.now())
      const seconds = secondsFor(authorization, now, terms)
      let outcome = await enter(owner, authorization, seconds, terms)
      if (outcome === 'full') {
        await makeRoom(owner)
        outcome = await enter(owner, authorization, seconds, terms)
      }
      if (outcome === 'added') {
        const extensionData = { ...authorization.extensionData, [indexName]: now + seconds }
        return store.save({ ...authorization, extensionData }, revision, expected)
      }
      if (outcome === 'marked' && authorization.state === 'active' && expected !== undefined)
        await endUnlisted(store, authorization, revision, expected)
      throw refusalOf(outcome, authorization)
    },
  })
}

// Entries for one approval.
const looksAtMost = 1000

/**
 * Drops dead entries of a full list; each approval looks at the next part. The record of an approval may be on its way:
 * the mark of the removal refuses it, so that none lives without an entry.
 */
function roomMaker(store: AuthorizationStore, { index, now }: IndexTerms): (owner: string) => Promise<void> {
  let next = 0
  return async (owner) => {
    const entries = await index.list(owner)
    next = next < entries.length ? next : 0
    const some = entries.slice(next, next + looksAtMost)
    next += looksAtMost
    const gone = await inTurns(some, async ({ authorizationId: id }) => {
      const found = (await store.find(id))?.authorization
      if (found !== undefined && ownerInIndex(found) === owner && expiryOf(found) > now()) return []
      if (!isUsedOnce(found)) await store.remove(id)
      return [id]
    })
    await index.remove(owner, gone.flat())
  }
}

// A record from before the index gets its entry at the next refresh, and is no new approval.
function isNewApproval(authorization: Authorization): authorization is Authorization & NewApproval {
  if (authorization.subject === undefined || indexedUntil(authorization) > -Infinity) return false
  return (
    authorization.state !== 'active' ||
    (authorization.spentCode === undefined && (authorization.refreshToken?.generation ?? 0) === 0)
  )
}

// The index lacked the record when the owner revoked all. A one-time use must stay used.
async function endUnlisted(
  store: AuthorizationStore,
  authorization: Active,
  revision: string,
  expected: string,
): Promise<void> {
  if (isUsedOnce(authorization)) await store.save(tombstoneOf(authorization), revision, expected)
  else await store.remove(authorization.id)
}

// Seconds that an addition usually takes at most.
const usualDelay = 1

/** A late addition could have passed a mark newer than its approval. So a second one assumes the longest way. */
async function enter(
  owner: string,
  authorization: Granted,
  seconds: number,
  { index, now, patience }: IndexTerms,
): Promise<EntryOutcome> {
  const { id: authorizationId, clientId, grantedAt } = authorization
  const openId = hasOpenId(authorization)
  const add = (delay: number) =>
    index.add(
      owner,
      { authorizationId, clientId, openId },
      { seconds, age: Math.max(0, now() - grantedAt) + delay },
    )
  const sentAt = performance.now()
  const outcome = await add(usualDelay)
  const isLate = performance.now() - sentAt > usualDelay * 1000
  return outcome === 'added' && isLate ? add(patience) : outcome
}

const hasOpenId = ({ scope }: Authorization): boolean => scope.includes('openid')

/** Undefined for a record that gives nothing to its client. */
export function ownerInIndex(authorization: Authorization): string | undefined {
  const { subject, issuerDigest } = authorization
  if (subject === undefined || ignoreTombstone(authorization) === undefined) return undefined
  return isGranted(authorization) ? indexOwner(issuerDigest, subject) : undefined
}

function indexedUntil({ extensionData }: Authorization): number {
  const until = dataOf(indexName, extensionData)
  return typeof until === 'number' ? until : -Infinity
}

// Twice the longest lifetime: often refreshed authorizations write their entry once in this time.
function secondsFor(authorization: Authorization, now: number, { lifetimes, leastSeconds }: IndexTerms) {
  const { accessToken, refreshToken, authorizationCode, authorizationRequest } = lifetimes
  const longest = Math.max(accessToken, refreshToken) + authorizationCode + authorizationRequest
  const least = hasOpenId(authorization) ? leastSeconds : 0
  return Math.max(2 * longest, least, expiryOf(authorization) - now)
}

function refusalOf(outcome: Exclude<EntryOutcome, 'added'>, { state }: Authorization) {
  if (outcome === 'full') return overLimit('owner_share_full', 60)
  return state === 'active' ? refused('authorizations_revoked') : refused('authorizations_revoked/request')
}
