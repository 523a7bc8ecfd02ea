import { type Authorization, expiryOf } from '../../authorization/authorization'
import { BoundedMap } from '../../protocol/bounded-map'
import type { StoredAuthorization } from '../authorization-store'

/** The right to keep what a read that is under way will bring. It is void once the record has changed meanwhile. */
export interface Ticket {
  readonly id: string
}

interface Entry {
  readonly found: StoredAuthorization
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/**
 * Authorizations with access tokens that were read a while ago, and have not changed since: as long as somebody else, who
 * is told of each change, says that it may be trusted. Bounded; the one that was used longest ago goes first.
 */
export class AuthorizationCache {
  /** In the order of use. */
  private readonly entries: BoundedMap<Entry>
  private readonly tickets = new Map<string, Ticket>()
  private trustedUntil = 0
  private wanted = false

  /**
   * @param clock milliseconds since the epoch, by which records expire.
   * @param stopwatch milliseconds that nobody sets back, by which trust ends.
   */
  constructor(
    maximum: number,
    private readonly clock: () => number,
    private readonly stopwatch: () => number,
  ) {
    this.entries = new BoundedMap(maximum)
  }

  /** What is known to be current; undefined when nothing is known. */
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

  /** To be called before a record is read; undefined when it may not be kept, or another read of it is under way. */
  begin(id: string): Ticket | undefined {
    if (!this.isTrusted() || this.tickets.has(id)) return undefined
    const ticket = { id }
    this.tickets.set(id, ticket)
    return ticket
  }

  /** To be called with what the read brought, unless it brought nothing: a stranger's guesses leave nothing behind. */
  keep(ticket: Ticket, found: StoredAuthorization): void {
    if (this.tickets.get(ticket.id) !== ticket || !hasAccessTokens(found.authorization)) return
    this.entries.put(ticket.id, { found, expiresAt: expiryOf(found.authorization) * 1000 })
  }

  /** To be called when the read is over, however it ended. */
  end(ticket: Ticket): void {
    if (this.tickets.get(ticket.id) === ticket) this.tickets.delete(ticket.id)
  }

  /** The record has changed, or is gone: a read of it that is under way may bring what was there before. */
  drop(id: string): void {
    this.entries.delete(id)
    this.tickets.delete(id)
  }

  /** All of them may have changed. */
  clear(): void {
    this.entries.clear()
    this.tickets.clear()
  }

  /** @param until by the stopwatch. */
  trust(until: number): void {
    this.trustedUntil = until
  }

  /** Nobody is told of changes any more. */
  distrust(): void {
    this.trustedUntil = 0
    this.clear()
  }

  /** Whether anybody has asked since this was last asked. */
  wasWanted(): boolean {
    const { wanted } = this
    this.wanted = false
    return wanted
  }

  private isTrusted(): boolean {
    return this.stopwatch() < this.trustedUntil
  }
}

function hasAccessTokens(authorization: Authorization): boolean {
  return 'accessTokens' in authorization && authorization.accessTokens.length > 0
}
