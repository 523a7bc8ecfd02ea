import {
  type AuthorizationIndex,
  entriesAtMost,
  type EntryOutcome,
  type EntryTerms,
  type IndexEntry,
} from '../authorization/authorization-index'
import { ExpiringMap } from '../primitives/expiring-map'
import { InMemory } from './in-memory'

// Sweeps at twice the entries left by the last sweep, so each addition costs the same.
const sweptAtLeast = 64

/** Times: milliseconds of the index's clock. */
class OwnerEntries {
  readonly entries = new Map<string, { readonly clientId: string; readonly end: number }>()
  mark: { readonly at: number; readonly end: number } | undefined
  end = 0
  private sweepAt = sweptAtLeast

  put({ authorizationId, clientId }: IndexEntry, end: number, now: number): boolean {
    const { entries } = this
    const isNew = !entries.has(authorizationId)
    if (isNew && entries.size >= Math.min(this.sweepAt, entriesAtMost)) this.sweep(now)
    if (isNew && entries.size >= entriesAtMost) return false
    entries.set(authorizationId, { clientId, end })
    this.end = Math.max(this.end, end)
    return true
  }

  sweep(now: number): void {
    for (const [id, { end }] of this.entries) if (end <= now) this.entries.delete(id)
    this.sweepAt = Math.max(sweptAtLeast, 2 * this.entries.size)
  }
}

export class MemoryIndex extends InMemory implements AuthorizationIndex {
  private readonly owners: ExpiringMap<OwnerEntries>
  private readonly marks: ExpiringMap<{ readonly at: number; readonly end: number }>

  /** @param clock milliseconds, never steps. */
  constructor(
    maximumOwners: number,
    private readonly clock: () => number,
  ) {
    super()
    this.owners = new ExpiringMap(maximumOwners, clock)
    this.marks = new ExpiringMap(maximumOwners, clock)
  }

  // No verb contains an await: each is atomic.
  async add(owner: string, entry: IndexEntry, { seconds, age }: EntryTerms): Promise<EntryOutcome> {
    const now = this.clock()
    const known = this.owners.get(owner) ?? new OwnerEntries()
    const { mark } = known
    if (mark !== undefined && mark.end > now && mark.at >= now - age * 1000) return 'marked'
    if (!known.put(entry, now + seconds * 1000, now)) return 'full'
    this.keep(owner, known)
    return 'added'
  }

  async list(owner: string): Promise<readonly IndexEntry[]> {
    const known = this.owners.get(owner)
    if (known === undefined) return []
    known.sweep(this.clock())
    return Array.from(known.entries, ([authorizationId, { clientId }]) => ({ authorizationId, clientId }))
  }

  async remove(owner: string, authorizationIds: readonly string[]): Promise<void> {
    const known = this.owners.get(owner)
    for (const id of authorizationIds) known?.entries.delete(id)
  }

  async mark(owner: string, seconds: number): Promise<void> {
    const at = this.clock()
    const known = this.owners.get(owner) ?? new OwnerEntries()
    known.mark = { at, end: at + seconds * 1000 }
    known.end = Math.max(known.end, known.mark.end)
    this.keep(owner, known)
  }

  async revokeClient(client: string, at: number, seconds: number): Promise<void> {
    const end = this.clock() + seconds * 1000
    const known = this.marks.get(client) ?? { at, end }
    const mark = { at: Math.max(known.at, at), end: Math.max(known.end, end) }
    if (!this.marks.set(client, mark, mark.end)) throw full()
  }

  async revokedBefore(client: string): Promise<number | undefined> {
    return this.marks.get(client)?.at
  }

  private keep(owner: string, known: OwnerEntries): void {
    if (!this.owners.set(owner, known, known.end)) throw full()
  }
}

const full = () => new Error('The index of the memory store is full.')
