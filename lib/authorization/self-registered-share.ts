import { digest } from '../protocol/credential'
import { tooManyAttempts } from '../protocol/oauth-error'
import { expiryOf } from './authorization'
import {
  type AuthorizationIndex,
  type IndexEntry,
  indexOwner,
  ownerInIndex,
  type RequireRoom,
} from './authorization-index'
import type { AuthorizationStore } from './store'

/** What the share of an owner needs. */
interface ShareTerms {
  readonly index: AuthorizationIndex
  readonly store: Pick<AuthorizationStore, 'find'>
  /** Seconds since the epoch. */
  readonly now: () => number
  /** How many self-registered clients one owner keeps alive. */
  readonly most: number
  /** Seconds that a client lives on after its last use. */
  readonly clientLifetime: number
  /** Whether the identifier has the form of a client that registered itself, or of the URL of a document. */
  readonly isSelfRegistered: (clientId: string) => boolean
  /** Whether the host has registered the client all the same. */
  readonly isOfHost: (clientId: string) => Promise<boolean>
}

// An owner that removes a client has room for another one, but the removed one stays in its store for a while. So one
// owner may let in no more than this many shares within that time: of the largest share, as many as an owner has entries.
const sharesInLifetime = 10

// Records that one approval reads at most: of so many clients at once, and so many of each.
const mostReads = 1000
const clientsAtOnce = 16
const recordsAtOnce = 4

/**
 * Bounds how many self-registered clients one owner keeps alive: anybody can register clients without end, and each one
 * that an owner approves stays in its store. A client that the owner uses already always passes.
 *
 * Counts the clients in the index of the owner. Reads records only at the bound, because entries outlive their records.
 * Approvals at the same time do not see each other: they may exceed the share by as many as wait at once.
 */
export function selfRegisteredShare(terms: ShareTerms): RequireRoom {
  const { index, most, clientLifetime, isSelfRegistered, isOfHost } = terms
  const mostLetIn = sharesInLifetime * most
  return async ({ issuerDigest, subject, clientId }) => {
    if (!isSelfRegistered(clientId)) return
    const owner = indexOwner(issuerDigest, subject)
    // No owner has this name: the two parts stand the other way round.
    const ledger = digest(subject) + issuerDigest
    const [entries, letIn] = await Promise.all([index.list(owner), index.list(ledger)])
    const { own, others } = byClient(entries, clientId, isSelfRegistered)
    const isKnown = letIn.some((entry) => entry.clientId === clientId)
    const isFull =
      (!isKnown && letIn.length >= mostLetIn) ||
      (others.length >= most && (await countLive(others, most, owner, terms)) >= most)
    if (isFull && (await countLive([own], 1, owner, terms)) === 0 && !(await isOfHost(clientId)))
      throw tooManyAttempts(
        'self_registered_share_full',
        'This account has given access to as many apps as it may that are not registered here.',
        retryAfter,
      )
    const authorizationId = digest(clientId).slice(0, idLength)
    await index.add(ledger, { authorizationId, clientId }, { seconds: clientLifetime, age: 0 })
  }
}

// Room comes when the owner removes a client, or when one ends.
const retryAfter = 3600
const idLength = 22

/** Whether an owner has let a client in, and it still may use this. Counts as {@link selfRegisteredShare} does. */
export async function hasLetIn(
  terms: Pick<ShareTerms, 'index' | 'store' | 'now'>,
  owner: string,
  clientId: string,
): Promise<boolean> {
  const { own } = byClient(await terms.index.list(owner), clientId, () => false)
  return (await countLive([own], 1, owner, terms)) > 0
}

function byClient(
  entries: readonly IndexEntry[],
  clientId: string,
  isSelfRegistered: ShareTerms['isSelfRegistered'],
): { readonly own: readonly string[]; readonly others: readonly (readonly string[])[] } {
  const own: string[] = []
  const others = new Map<string, string[]>()
  for (const entry of entries) {
    const { authorizationId: id } = entry
    if (entry.clientId === clientId) own.push(id)
    else if (isSelfRegistered(entry.clientId)) {
      const ids = others.get(entry.clientId)
      if (ids === undefined) others.set(entry.clientId, [id])
      else ids.push(id)
    }
  }
  return { own, others: [...others.values()] }
}

/**
 * Counts the clients that have a live record, until they are enough. Where there are more records than it reads, the
 * rest counts as live: the owner has a client that it may use already.
 *
 * @param clients the ids of the records of each client.
 */
async function countLive(
  clients: readonly (readonly string[])[],
  enough: number,
  owner: string,
  { store, now }: Pick<ShareTerms, 'store' | 'now'>,
): Promise<number> {
  const isLive = async (id: string): Promise<boolean> => {
    const found = (await store.find(id))?.authorization
    return found !== undefined && ownerInIndex(found) === owner && expiryOf(found) > now()
  }
  let reads = 0
  const isInUse = async (ids: readonly string[]): Promise<boolean> => {
    for (let first = 0; first < ids.length; first += recordsAtOnce) {
      const some = ids.slice(first, first + recordsAtOnce)
      reads += some.length
      if (reads > mostReads || (await Promise.all(some.map(isLive))).includes(true)) return true
    }
    return false
  }
  let live = 0
  for (let first = 0; first < clients.length && live < enough; first += clientsAtOnce) {
    const inUse = await Promise.all(clients.slice(first, first + clientsAtOnce).map(isInUse))
    live += inUse.filter(Boolean).length
  }
  return live
}
