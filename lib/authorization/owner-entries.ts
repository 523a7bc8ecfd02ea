import { secondsOf } from '../primitives/clock'
import { inTurns } from '../primitives/concurrency'
import { secureRandom } from '../protocol/credential'
import { dataOf } from '../protocol/extension-data'
import { overLimit, refused } from '../protocol/refusals'
import {
  type Authorization,
  expiryOf,
  type Granted,
  isGranted,
  ignoreTombstone,
  isUsedOnce,
} from './authorization'
import { endFound } from './commit'
import type { Lifetimes } from './lifetimes'
import { changeRecord } from '../store/change'
import type { Store } from '../store/store'
import { type OwnerEntry, namesIn, type Owners } from './owners'
import { type AuthorizationStore, decorate } from './store'

/** Before the entry, the names that were read with the owner; after it, the end of the entry. */
export const entryName = 'authorization-index'

/** The bound on the clients of one owner that the host has not registered. */
export interface SelfRegisteredShare {
  readonly most: number
  readonly has: (clientId: string) => boolean
}

interface EntryTerms {
  readonly owners: Owners
  readonly now: () => number
  readonly lifetimes: Lifetimes
  /** Of an entry with `openid`. */
  readonly leastSeconds: number
  readonly share: SelfRegisteredShare | undefined
}

export function namesOf({ extensionData }: Pick<Authorization, 'extensionData'>): string | undefined {
  const names = dataOf(entryName, extensionData)
  return typeof names === 'string' ? names : undefined
}

/** With terms, an authorization enters the record of its owner before it exists. */
export function withOwners(
  store: AuthorizationStore,
  owners: Owners,
  terms: EntryTerms | undefined,
): AuthorizationStore {
  const prepared = async (given: Authorization, expected: string | undefined): Promise<Authorization> => {
    const subject = ownerOf(given)
    if (subject === undefined) return given
    if (isGranted(given)) return terms === undefined ? given : entered(store, subject, given, expected, terms)
    if (dataOf(entryName, given.extensionData) !== undefined) return given
    return withData(given, namesIn(await owners.read(subject)))
  }
  return decorate(store, {
    save: async (authorization, revision, expected) =>
      store.save(await prepared(authorization, expected), revision, expected),
  })
}

async function entered(
  store: AuthorizationStore,
  subject: string,
  authorization: Granted,
  expected: string | undefined,
  terms: EntryTerms,
): Promise<Authorization> {
  if (enteredUntil(authorization) >= expiryOf(authorization)) return authorization
  const entry = entryOf(authorization, terms)
  // An approval without a page has no names. Nor has an authorization from before the option: it ends if the owner has
  // ended everything since.
  const began = namesOf(authorization) ?? (isNewApproval(authorization) ? authorization.grantedAt : '.')
  const isFull = (others: readonly OwnerEntry[]) => crowdFor(entry, others, terms) !== undefined
  const enter = () =>
    terms.owners.enter(subject, entry, isFull, isReentered(authorization) ? undefined : began)
  let outcome = await enter()
  for (let tried = 0; outcome === 'full' && tried < bounds; tried++) {
    await makeRoom(store, subject, entry, terms)
    outcome = await enter()
  }
  if (outcome === 'entered') return withData(authorization, entry.until)
  if (outcome === 'full') throw overLimit('owner_share_full', 60)
  if (authorization.state !== 'active') throw refused('authorizations_revoked/request')
  if (expected !== undefined) await endFound(store, authorization.id, authorization, secureRandom)
  throw refused('authorizations_revoked')
}

const withData = <Kept extends Authorization>(authorization: Kept, data: string | number): Kept => ({
  ...authorization,
  extensionData: { ...authorization.extensionData, [entryName]: data },
})

const ownerOf = (authorization: Authorization): string | undefined => ignoreTombstone(authorization)?.subject

const isHeldBy = (subject: string, found: Authorization | undefined, now: number): boolean =>
  found !== undefined && ownerOf(found) === subject && expiryOf(found) > now

function enteredUntil({ extensionData }: Authorization): number {
  const until = dataOf(entryName, extensionData)
  return typeof until === 'number' ? until : -Infinity
}

// A revocation of everything found its entry.
const isReentered = (authorization: Authorization): boolean => enteredUntil(authorization) > -Infinity

function entryOf(authorization: Granted, { now, lifetimes, leastSeconds }: EntryTerms): OwnerEntry {
  const { id: authorizationId, clientId, scope } = authorization
  const openId = scope.includes('openid')
  const { accessToken, refreshToken, authorizationCode, authorizationRequest } = lifetimes
  // Twice the longest lifetime, so that frequent refreshes rarely write an entry.
  const longest = Math.max(accessToken, refreshToken) + authorizationCode + authorizationRequest
  const at = Math.floor(now())
  const until = Math.max(at + 2 * longest, at + (openId ? leastSeconds : 0), expiryOf(authorization))
  return { authorizationId, clientId, openId, until }
}

// An authorization from before the option is no new approval.
const isNewApproval = (authorization: Granted): boolean =>
  authorization.state !== 'active' ||
  (authorization.spentCode === undefined && (authorization.refreshToken?.generation ?? 0) === 0)

export const entriesAtMost = 1000
export const entriesOfClientAtMost = 100
const bounds = 3

interface Crowd {
  readonly entries: readonly OwnerEntry[]
  /** Those that end, if all live. */
  readonly givingWay: (entries: readonly LookedAt[]) => readonly LookedAt[]
}

/** Undefined if there is room. */
function crowdFor(
  { clientId, authorizationId }: OwnerEntry,
  entries: readonly OwnerEntry[],
  { share }: Pick<EntryTerms, 'share'>,
): Crowd | undefined {
  const others = entries.filter((each) => each.authorizationId !== authorizationId)
  const own = others.filter((each) => each.clientId === clientId)
  if (own.length >= entriesOfClientAtMost) return { entries: own, givingWay: oldestOfMost }
  if (others.length >= entriesAtMost) return { entries: others, givingWay: oldestOfMost }
  if (own.length > 0 || share === undefined || !share.has(clientId)) return undefined
  const strangers = others.filter((each) => share.has(each.clientId))
  const excess = new Set(strangers.map((each) => each.clientId)).size + 1 - share.most
  if (excess <= 0) return undefined
  return { entries: strangers, givingWay: (looked) => leastUsed(looked, excess) }
}

async function makeRoom(
  store: AuthorizationStore,
  subject: string,
  incoming: OwnerEntry,
  terms: EntryTerms,
): Promise<void> {
  const { owners, now } = terms
  const crowd = crowdFor(incoming, (await owners.read(subject)).entries, terms)
  if (crowd === undefined) return
  const looked = await inTurns(crowd.entries, async (entry) => ({
    ...entry,
    found: (await store.find(entry.authorizationId))?.authorization,
  }))
  const gone = looked.filter(({ found }) => !isHeldBy(subject, found, now()))
  const ending = gone.length > 0 ? gone : crowd.givingWay(looked)
  await inTurns(ending, async ({ authorizationId, found }) => {
    const isOther = !isUsedOnce(found) && found?.subject !== undefined && found.subject !== subject
    // A one-time use stays used. A record on its way meets the mark of the removal.
    if (!isOther && !(gone.length > 0 && isUsedOnce(found)))
      await endFound(store, authorizationId, found, secureRandom)
  })
  const ids = ending.map(({ authorizationId }) => authorizationId)
  await owners.drop(subject, ids)
}

interface LookedAt extends OwnerEntry {
  readonly found: Authorization | undefined
}

/** Not redeemed or without a refresh token, else of the client that has most. */
function oldestOfMost(entries: readonly LookedAt[]): readonly LookedAt[] {
  const unheld = entries.find(({ found }) => found?.state !== 'active' || found.refreshToken === undefined)
  if (unheld !== undefined) return [unheld]
  const counts = new Map<string, number>()
  for (const { clientId } of entries) counts.set(clientId, (counts.get(clientId) ?? 0) + 1)
  const most = Math.max(...counts.values())
  return entries.filter(({ clientId }) => counts.get(clientId) === most).slice(0, 1)
}

function leastUsed(entries: readonly LookedAt[], clients: number): readonly LookedAt[] {
  const usedAt = new Map<string, number>()
  for (const { clientId, found } of entries) {
    const at = found !== undefined && isGranted(found) ? lastIssueOf(found) : 0
    usedAt.set(clientId, Math.max(usedAt.get(clientId) ?? 0, at))
  }
  const ended = new Map([...usedAt].toSorted(([, one], [, other]) => one - other).slice(0, clients))
  return entries.filter(({ clientId }) => ended.has(clientId))
}

export const lastIssueOf = (live: Granted): number =>
  (live.state === 'active' ? live.lastResponse?.at : undefined) ?? live.grantedAt

export async function hasLetIn(
  {
    store,
    now,
  }: { readonly store: AuthorizationStore & Pick<EntryTerms, 'owners'>; readonly now: () => number },
  subject: string,
  clientId: string,
): Promise<boolean> {
  const own = (await store.owners.read(subject)).entries.filter((entry) => entry.clientId === clientId)
  const found = await inTurns(own, ({ authorizationId }) => store.find(authorizationId))
  return found.some((each) => isHeldBy(subject, each?.authorization, now()))
}

/** Seconds for which processes without the option may run beside the first one with it. */
const rollout = 3600

const keyOf = (issuerDigest: string) => `since:${issuerDigest}`

/** Whether a server with the option `authorizations` has used the store. */
export const isNoted = async (store: Store, issuerDigest: string): Promise<boolean> =>
  (await store.read(keyOf(issuerDigest))) !== undefined

export type IndexedSince = ReturnType<typeof indexedSince>

interface IndexingSettings {
  readonly lifetimes: Lifetimes
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** The host says that no authorization is older than the option. */
  readonly listsAll: boolean
}

export function indexedSince(
  store: Store,
  issuerDigest: string,
  { lifetimes, clock, listsAll }: IndexingSettings,
) {
  const now = secondsOf(clock)
  let known: number | undefined
  const since = async () =>
    (known ??= await changeRecord(store, keyOf(issuerDigest), (value) => {
      const outcome = value === undefined ? now() : Number(value)
      return { outcome, write: value === undefined ? { value: String(outcome) } : undefined }
    }))
  const { refreshToken, accessToken, authorizationCode } = lifetimes
  const longest = Math.max(refreshToken, accessToken) + authorizationCode
  return {
    /** Whether owners list every live authorization: nothing older lives without a refresh. */
    isComplete: async () => listsAll || now() - (await since()) > longest + rollout,
    readiness: { name: 'authorizations', ready: since },
  }
}
