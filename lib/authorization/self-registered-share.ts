import { digest } from '../protocol/credential'
import { overLimit } from '../protocol/refusals'
import { isHeldBy, type RequireRoom } from './owner-entries'
import type { OwnerEntry } from './owner-record'
import { ownerName, type Owners } from './owners'
import type { AuthorizationStore } from './store'

interface ShareTerms {
  readonly owners: Owners
  readonly store: Pick<AuthorizationStore, 'find'>
  /** Seconds since the epoch. */
  readonly now: () => number
  /** Clients of one owner. */
  readonly most: number
  /** Seconds after the last use. */
  readonly clientLifetime: number
  /** Judges the form of the identifier: self-registered, or the URL of a document. */
  readonly isSelfRegistered: (clientId: string) => boolean
  /** Whether the host has registered the client all the same. */
  readonly isOfHost: (clientId: string) => Promise<boolean>
}

// A removed client makes room at once, but stays in its store for a while. So one owner lets in at most this many
// shares within that time (of the largest share, as many as the owner has entries).
const sharesInLifetime = 10

// Bounds for one approval: reads in all, clients at once, records of each at once.
const mostReads = 1000
const clientsAtOnce = 16
const recordsAtOnce = 4

/**
 * Bounds the clients per owner: anybody can register them without end, and an approved one stays in its store. A client
 * in use always passes.
 *
 * Reads records only at the bound, because entries outlive them. Parallel approvals do not see each other: they may
 * exceed the share by as many as wait at once.
 */
export function selfRegisteredShare(terms: ShareTerms): RequireRoom {
  const { owners, now, most, clientLifetime, isSelfRegistered, isOfHost } = terms
  const mostLetIn = sharesInLifetime * most
  return async ({ issuerDigest, subject, clientId }) => {
    if (!isSelfRegistered(clientId)) return
    const owner = ownerName(issuerDigest, subject)
    // No owner has this name: the parts stand the other way round.
    const ledger = digest(subject) + issuerDigest
    const [{ entries }, { entries: letIn }] = await Promise.all([owners.read(owner), owners.read(ledger)])
    const { own, others } = byClient(entries, clientId, isSelfRegistered)
    const isKnown = letIn.some((entry) => entry.clientId === clientId)
    const isFull =
      (!isKnown && letIn.length >= mostLetIn) ||
      (others.length >= most && (await countLive(others, most, owner, terms)) >= most)
    if (isFull && (await countLive([own], 1, owner, terms)) === 0 && !(await isOfHost(clientId)))
      throw overLimit('self_registered_share_full', retryAfter)
    const authorizationId = digest(clientId).slice(0, idLength)
    await owners.enter(
      ledger,
      { authorizationId, clientId, openId: false, until: now() + clientLifetime },
      undefined,
    )
  }
}

// The owner may remove a client, or one ends.
const retryAfter = 3600
const idLength = 22

export async function hasLetIn(
  terms: Pick<ShareTerms, 'owners' | 'store' | 'now'>,
  owner: string,
  clientId: string,
): Promise<boolean> {
  const { own } = byClient((await terms.owners.read(owner)).entries, clientId, () => false)
  return (await countLive([own], 1, owner, terms)) > 0
}

function byClient(
  entries: readonly OwnerEntry[],
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

/** Counts the clients with a live record, up to `enough`. Records beyond the bound of reads count as live. */
async function countLive(
  clients: readonly (readonly string[])[],
  enough: number,
  owner: string,
  { store, now }: Pick<ShareTerms, 'store' | 'now'>,
): Promise<number> {
  const isLive = async (id: string): Promise<boolean> =>
    isHeldBy(owner, (await store.find(id))?.authorization, now())
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
