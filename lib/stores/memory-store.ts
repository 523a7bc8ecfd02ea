import { type Authorization, expiryOf } from '../authorization/authorization'
import type { AuthorizationIndex } from '../authorization/authorization-index'
import type { ConsentStore } from '../authorization/consent-store'
import { decodeAuthorization, encodeAuthorization } from '../authorization/codec'
import { ConfigurationError } from '../primitives/configuration-error'
import { shortKey } from '../protocol/credential'
import { overLimit } from '../protocol/refusals'
import { steadyClock } from '../primitives/steady-clock'
import type { StoredAuthorization } from '../authorization/store'
import type { Counters } from '../limits/counters'
import { ExpiringMap, shareWait } from '../primitives/expiring-map'
import { InMemory } from './in-memory'
import { MemoryConsents } from './memory-consents'
import { MemoryIndex } from './memory-index'
import { MemoryKeys } from './memory-keys'
import { memoryCounters } from './memory-counters'
import type { KeyStore } from './key-store'
import type { Storage } from './storage'

export interface MemoryStoreOptions {
  /**
   * The largest number of authorizations with codes or tokens, about 2 KB each. Pending and denied requests
   * have separate room for half as many. A full store rejects new records and drops none. One client, and one
   * resource owner, gets at most a quarter of each room. Default 100 000.
   */
  readonly maximumRecords?: number
  /**
   * Allows production (`NODE_ENV`). A restart then loses every token, and no other process knows them. Default
   * false.
   */
  readonly allowInProduction?: boolean
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

/** A {@link Storage} in memory. */
export interface MemoryStore extends Storage {
  /** With the clock of the store, and as many keys as `maximumRecords`. */
  readonly counters: Counters
  /** A restart loses them. */
  readonly keys: KeyStore
  /** For at most `maximumRecords` resource owners. */
  readonly index: AuthorizationIndex
  /** For at most `maximumRecords` resource owners. */
  readonly consents: ConsentStore
}

/**
 * Stores authorizations in this process, for tests and first steps. A restart loses every token, and no other
 * process knows them.
 *
 * @throws ConfigurationError if `NODE_ENV` is `production`, unless `allowInProduction` is true.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  if (process.env['NODE_ENV'] === 'production' && options.allowInProduction !== true)
    throw new ConfigurationError('The memory store is not for production:', [
      {
        path: 'store',
        message:
          'must survive restarts and be shared by all processes, because NODE_ENV is production: use redisStore({ url }), or allow memory: memoryStore({ allowInProduction: true }).',
      },
    ])
  return new RecordPerAuthorization(options.maximumRecords ?? 100_000, options.clock ?? Date.now)
}

// Text: two readers must not share one object.
interface StoredText {
  readonly revision: string
  readonly text: string
}

class RecordPerAuthorization extends InMemory implements MemoryStore {
  readonly counters: Counters
  readonly keys = new MemoryKeys()
  readonly index: AuthorizationIndex
  readonly consents: ConsentStore
  /** Separate: open consent pages are cheap, and must not crowd out tokens. */
  private readonly undecided: ExpiringMap<StoredText>
  private readonly decided: ExpiringMap<StoredText>

  private readonly steady: () => number

  constructor(
    maximumRecords: number,
    private readonly clock: () => number,
  ) {
    super()
    this.steady = steadyClock(clock)
    this.counters = memoryCounters({ maximumKeys: maximumRecords, clock })
    this.index = new MemoryIndex(maximumRecords, this.steady)
    this.consents = new MemoryConsents(maximumRecords, this.steady)
    this.undecided = new ExpiringMap(Math.ceil(maximumRecords / 2), this.steady)
    this.decided = new ExpiringMap(maximumRecords, this.steady)
  }

  async find(id: string): Promise<StoredAuthorization | undefined> {
    const stored = this.stored(id)
    if (stored === undefined) return undefined
    return { authorization: decodeAuthorization(id, stored.text), revision: stored.revision }
  }

  // No await in `save`: it is atomic.
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

  private stored(id: string): StoredText | undefined {
    return this.decided.get(id) ?? this.undecided.get(id)
  }

  private keep(authorization: Authorization, revision: string): void {
    const { id, state } = authorization
    const isDecided = state === 'approved' || state === 'active'
    const [room, other] = isDecided ? [this.decided, this.undecided] : [this.undecided, this.decided]
    // On the steady clock: a step of the host's clock ends no record early or late.
    const lifetime = expiryOf(authorization) * 1000 - this.clock()
    const stored = { revision, text: encodeAuthorization(authorization) }
    const shares = sharesOf(authorization)
    const full = room.fullShare(id, shares)
    // Both have one text: a client must not learn what an owner has at other clients.
    if (full !== undefined)
      throw overLimit(full === shares[0] ? 'client_share_full' : 'owner_share_full', shareWait)
    if (!room.set(id, stored, this.steady() + lifetime, shares)) throw new Error('The memory store is full.')
    // Always: `delete` also sweeps that room.
    other.delete(id)
  }
}

// A denied request names neither. The map keeps its earlier shares.
function sharesOf(authorization: Authorization): readonly string[] {
  if (authorization.state === 'denied') return []
  const { clientId, subject } = authorization
  const client = `client ${clientId}`
  return subject === undefined ? [client] : [client, `owner ${shortKey(subject)}`]
}
