// Tuning: the memory of the option `cache`; see cache.ts.
import { type Authorization, expiryOf } from '../../authorization/authorization'
import { BoundedMap } from '../../primitives/bounded-map'
import type { StoredAuthorization } from '../../authorization/store'

/** For a read that may cache its result. A change of the record voids the ticket. */
interface Ticket {
  readonly id: string
}

interface Entry {
  readonly found: StoredAuthorization
  /** Milliseconds since the epoch: the record's last credential ends. */
  readonly expiresAt: number
}

/**
 * Authorizations with access tokens. The caller reports every change, and extends the trust. Evicts the least
 * recently used.
 */
export class AuthorizationCache {
  private readonly entries: BoundedMap<Entry>
  private readonly tickets = new Map<string, Ticket>()
  private trustedUntil = 0
  private wanted = false

  /** @param clock milliseconds since the epoch, for expiry. */
  constructor(
    maximum: number,
    private readonly clock: () => number,
  ) {
    this.entries = new BoundedMap(maximum)
  }

  /** Undefined also if the cache is not trusted. */
  getCached(id: string): StoredAuthorization | undefined {
    this.wanted = true
    if (!this.isTrusted()) return undefined
    const entry = this.entries.get(id)
    if (entry === undefined) return undefined
    if (entry.expiresAt <= this.clock()) {
      this.entries.delete(id)
      return undefined
    }
    this.entries.put(id, entry)
    return entry.found
  }

  /** Call before a read. Undefined without trust, or if another read has the ticket. */
  begin(id: string): Ticket | undefined {
    if (!this.isTrusted() || this.tickets.has(id)) return undefined
    const ticket = { id }
    this.tickets.set(id, ticket)
    return ticket
  }

  /** Never after a miss: invented tokens must not fill the cache. */
  keep(ticket: Ticket, found: StoredAuthorization): void {
    if (this.tickets.get(ticket.id) !== ticket || !hasAccessTokens(found.authorization)) return
    this.entries.put(ticket.id, { found, expiresAt: expiryOf(found.authorization) * 1000 })
  }

  /** Call after a read, failed or not. */
  end(ticket: Ticket): void {
    if (this.tickets.get(ticket.id) === ticket) this.tickets.delete(ticket.id)
  }

  /** Also voids the ticket of a read, which may find the old record. */
  drop(id: string): void {
    this.entries.delete(id)
    this.tickets.delete(id)
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

  /** Whether a guard has called `getCached` since the last call. */
  wasWanted(): boolean {
    const { wanted } = this
    this.wanted = false
    return wanted
  }

  private isTrusted(): boolean {
    return performance.now() < this.trustedUntil
  }
}

const hasAccessTokens = (authorization: Authorization): boolean =>
  'accessTokens' in authorization && authorization.accessTokens.length > 0
