import { BoundedMap } from '../primitives/maps'
import { SingleFlight } from '../primitives/concurrency'
import { steadyClock } from '../primitives/clock'
import { shortKey } from '../protocol/credential'
import type { Authorization, Requested } from './authorization'
import { changeRecord } from '../store/change'
import type { Store } from '../store/store'
import { ownerName } from './owners'
import { type AuthorizationStore, confirmAbsence, decorate, type StoredAuthorization } from './store'

interface ClientMarksParts {
  readonly store: Store
  readonly issuerDigest: string
  /** Default: every client. */
  readonly mayHaveMark?: ((clientId: string) => boolean) | undefined
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Seconds that a request waits for its owner. Default: no request counts, as at a guard. */
  readonly requestLifetime?: number
}

/** Milliseconds. */
const rememberedFor = 1000

const clientsAtMost = 10_000

/** Seconds. A clock that is ahead gives grants too late a time. */
const clocksApart = 5

interface RememberedMark {
  readonly at: number
  /** Milliseconds of the steady clock, before the read. */
  readonly readAt: number
}

/**
 * Hides records that were granted before a mark. Endpoints read the mark with each record; guards remember it for a
 * second.
 */
export class ClientMarks {
  private readonly remembered = new BoundedMap<RememberedMark>(clientsAtMost)
  private readonly reads = new SingleFlight<number>()
  private readonly steady: () => number

  constructor(private readonly parts: ClientMarksParts) {
    this.steady = steadyClock(parts.clock)
  }

  /** @param seconds the longest life of what the client has got. */
  async revoke(clientId: string, seconds: number): Promise<void> {
    const readAt = this.steady()
    const now = Math.floor(this.parts.clock() / 1000)
    const at = now + clocksApart
    const latest = await changeRecord(this.parts.store, this.keyOf(clientId), (value) => {
      const before = markIn(value)
      // Another process may have set a later mark.
      const mark = { at: Math.max(at, before.at), until: Math.max(at + seconds, before.until) }
      const write = { value: JSON.stringify([mark.at, mark.until]), seconds: mark.until - now }
      return { write, outcome: mark.at }
    })
    this.remember(clientId, latest, readAt)
  }

  forEndpoints(store: AuthorizationStore): AuthorizationStore {
    return this.decorated(store, (clientId) => this.read(clientId))
  }

  forGuards(store: AuthorizationStore): AuthorizationStore {
    return this.decorated(store, (clientId) => this.recall(clientId))
  }

  /** Undefined without a mark in memory. */
  readonly known = (found: StoredAuthorization | undefined): StoredAuthorization | undefined => {
    const time = found === undefined ? Infinity : this.timeOf(found.authorization)
    if (found === undefined || time === Infinity) return found
    const mark = this.recalled(found.authorization.clientId)
    return mark !== undefined && time > mark ? found : undefined
  }

  private decorated(
    store: AuthorizationStore,
    markOf: (clientId: string) => Promise<number>,
  ): AuthorizationStore {
    const unlessRevoked = async (found: StoredAuthorization | undefined) => {
      if (found === undefined) return undefined
      const time = this.timeOf(found.authorization)
      return time === Infinity || time > (await markOf(found.authorization.clientId)) ? found : undefined
    }
    return decorate(store, {
      getCached: (id) => this.known(store.getCached?.(id)),
      find: async (id) => unlessRevoked(await store.find(id)),
      async confirmAbsent(id) {
        if (await confirmAbsence(store, id)) return true
        return (await unlessRevoked(await store.find(id))) === undefined
      },
    })
  }

  /** In seconds; Infinity if no mark ends the record. */
  private timeOf(authorization: Authorization): number {
    if (this.parts.mayHaveMark?.(authorization.clientId) === false) return Infinity
    return authorization.state === 'requested'
      ? openedAt(authorization, this.parts.requestLifetime)
      : authorization.grantedAt
  }

  /** -Infinity without a mark. */
  async read(clientId: string): Promise<number> {
    const readAt = this.steady()
    const found = await this.parts.store.read(this.keyOf(clientId))
    return this.remember(clientId, markIn(found?.value).at, readAt)
  }

  private async recall(clientId: string): Promise<number> {
    // Requests share a read that began in the same second.
    const second = Math.floor(this.steady() / rememberedFor)
    return (
      this.recalled(clientId) ??
      this.reads.share(`${second} ${shortKey(clientId)}`, () => this.read(clientId))
    )
  }

  private recalled(clientId: string): number | undefined {
    const known = this.remembered.get(shortKey(clientId))
    return known !== undefined && this.steady() - known.readAt < rememberedFor ? known.at : undefined
  }

  // A read that began before a later mark must not undo it.
  private remember(clientId: string, at: number, readAt: number): number {
    const key = shortKey(clientId)
    const latest = Math.max(at, this.remembered.get(key)?.at ?? -Infinity)
    this.remembered.set(key, { at: latest, readAt })
    return latest
  }

  private readonly keyOf = (clientId: string): string =>
    `revoked:${ownerName(this.parts.issuerDigest, clientId)}`
}

function markIn(value: string | undefined): { readonly at: number; readonly until: number } {
  if (value === undefined) return { at: -Infinity, until: -Infinity }
  const [at, until]: unknown[] = JSON.parse(value)
  if (typeof at === 'number' && typeof until === 'number') return { at, until }
  throw new Error('The stored text is no mark of a client.')
}

/** Infinity if it gives nothing yet, or never: to a client that polls, after a denial. */
function openedAt(
  { request, decision, grantedAt, expiresAt, lifetimeUntilSeen }: Requested,
  lifetime = -Infinity,
): number {
  if (request === undefined || decision !== undefined) return grantedAt ?? Infinity
  return expiresAt - (lifetimeUntilSeen ?? lifetime)
}
