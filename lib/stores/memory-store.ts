import { type Authorization, expiryOf } from '../authorization/authorization'
import { decodeAuthorization, encodeAuthorization } from '../authorization/codec'
import { ConfigurationError } from '../protocol/configuration'
import { shortKey } from '../protocol/credential'
import { tooManyForShare } from '../protocol/oauth-error'
import { steadyClock } from '../protocol/steady-clock'
import type { AuthorizationStore, StoredAuthorization } from './authorization-store'
import type { Counters } from './counters'
import { ExpiringMap, shareWait } from './expiring-map'
import { InMemory } from './in-memory'
import { memoryCounters } from './memory-counters'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * Authorizations with codes and tokens kept at most, about 2 KB each; beside them half as many requests that wait for
   * a decision. One more of either is refused, never an older one dropped. One client has at most a quarter of each,
   * and so has one resource owner, so that others find room. Default 100 000.
   */
  readonly maximumRecords?: number
  /** Lets it run where `NODE_ENV` is `production`: one process, and a restart forgets every token. Default false. */
  readonly allowInProduction?: boolean
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

/** An {@link AuthorizationStore} in memory. */
export interface MemoryStore extends AuthorizationStore {
  /** What is counted beside it. */
  readonly counters: Counters
}

/**
 * Authorizations in the memory of this process: nothing to install, nothing survives a restart, no second process.
 *
 * @throws ConfigurationError where `NODE_ENV` is `production`, unless `allowInProduction` is set.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  if (process.env['NODE_ENV'] === 'production' && options.allowInProduction !== true)
    throw new ConfigurationError('The memory store is not for production:', [
      {
        path: 'store',
        message:
          'must be one that processes share and restarts survive, such as redisStore({ url }); or say memoryStore({ allowInProduction: true }).',
      },
    ])
  return new RecordPerAuthorization(options.maximumRecords ?? 100_000, options.clock ?? Date.now)
}

// Encoded, so that no two readers share a record.
interface Kept {
  readonly revision: string
  readonly text: string
}

class RecordPerAuthorization extends InMemory implements MemoryStore {
  readonly counters: Counters
  /** Consent pages cost whoever opens them nothing: opening many takes no room from codes and tokens. */
  private readonly undecided: ExpiringMap<Kept>
  private readonly decided: ExpiringMap<Kept>

  private readonly steady: () => number

  constructor(
    maximumRecords: number,
    private readonly clock: () => number,
  ) {
    super()
    this.steady = steadyClock(clock)
    this.counters = memoryCounters({ maximumKeys: maximumRecords, clock })
    this.undecided = new ExpiringMap(Math.ceil(maximumRecords / 2), this.steady)
    this.decided = new ExpiringMap(maximumRecords, this.steady)
  }

  async find(id: string): Promise<StoredAuthorization | undefined> {
    const stored = this.stored(id)
    if (stored === undefined) return undefined
    return { authorization: decodeAuthorization(id, stored.text), revision: stored.revision }
  }

  // No await inside: comparing and writing are one act.
  async save(authorization: Authorization, revision: string, expected?: string): Promise<boolean> {
    const stored = this.stored(authorization.id)
    if (stored?.revision === revision) return true
    if (stored?.revision !== expected) return false
    this.keep(authorization, revision)
    return true
  }

  async remove(id: string): Promise<void> {
    this.undecided.delete(id)
    this.decided.delete(id)
  }

  private stored(id: string): Kept | undefined {
    return this.decided.get(id) ?? this.undecided.get(id)
  }

  private keep(authorization: Authorization, revision: string): void {
    const { id, state } = authorization
    const isDecided = state === 'approved' || state === 'active'
    const [room, other] = isDecided ? [this.decided, this.undecided] : [this.undecided, this.decided]
    // A span, so that a clock which is set right neither fills the store with what expired nor empties it.
    const lifetime = expiryOf(authorization) * 1000 - this.clock()
    const kept = { revision, text: encodeAuthorization(authorization) }
    const shares = sharesOf(authorization)
    const full = room.fullShare(id, shares)
    if (full !== undefined)
      throw full === shares[0]
        ? tooManyForShare('client_share_full', noRoom, shareWait)
        : tooManyForShare('owner_share_full', noRoom, shareWait)
    if (!room.set(id, kept, this.steady() + lifetime, shares)) throw new Error('The memory store is full.')
    // Also where it is not: each room lets what expired go, whichever of them the new ones come to.
    other.delete(id)
  }
}

// One text for both: what an owner has at other clients is nothing for a client to know.
const noRoom = 'There is no room for more at the moment. Try again later.'

// A denied request has no names any more, and keeps the shares that it had.
function sharesOf(authorization: Authorization): readonly string[] {
  if (authorization.state === 'denied') return []
  const { clientId, subject } = authorization
  const client = `client ${clientId}`
  return subject === undefined ? [client] : [client, `owner ${shortKey(subject)}`]
}
