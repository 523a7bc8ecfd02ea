// Tuning: the memory of the option `cache`; see cache.ts.
import { BoundedMap } from '../../primitives/maps'
import type { StoredValue } from '../../store/store'

/** Of a server whose guards find tokens. */
export const isCached = (key: string): boolean => key.startsWith('authorization:')

/** For a read that may cache its result. A change of the record voids the ticket. */
interface Ticket {
  readonly key: string
}

/** Records. The caller reports every change, and extends the trust. Evicts the least recently used. */
export class RecordCache {
  private readonly entries: BoundedMap<StoredValue>
  private readonly tickets = new Map<string, Ticket>()
  private trustedUntil = 0
  private wanted = false

  constructor(maximum: number) {
    this.entries = new BoundedMap(maximum)
  }

  /** Undefined also if the cache is not trusted. */
  peek(key: string): StoredValue | undefined {
    this.wanted = true
    if (!this.isTrusted()) return undefined
    const found = this.entries.get(key)
    if (found !== undefined) this.entries.put(key, found)
    return found
  }

  /** Call before a read. Undefined without trust, or if another read has the ticket. */
  begin(key: string): Ticket | undefined {
    if (!this.isTrusted() || this.tickets.has(key)) return undefined
    const ticket = { key }
    this.tickets.set(key, ticket)
    return ticket
  }

  /** Never after a miss: invented tokens must not fill the cache. */
  keep(ticket: Ticket, found: StoredValue): void {
    if (this.tickets.get(ticket.key) === ticket) this.entries.put(ticket.key, found)
  }

  /** Call after a read, failed or not. */
  end(ticket: Ticket): void {
    if (this.tickets.get(ticket.key) === ticket) this.tickets.delete(ticket.key)
  }

  /** Also voids the ticket of a read, which may find the old record. */
  drop(key: string): void {
    this.entries.delete(key)
    this.tickets.delete(key)
  }

  clear(): void {
    this.entries.clear()
    this.tickets.clear()
  }

  trust(until: number): void {
    this.trustedUntil = until
  }

  distrust(): void {
    this.trustedUntil = 0
    this.clear()
  }

  /** Whether a guard has called `peek` since the last call. */
  wasWanted(): boolean {
    const { wanted } = this
    this.wanted = false
    return wanted
  }

  private isTrusted(): boolean {
    return performance.now() < this.trustedUntil
  }
}
