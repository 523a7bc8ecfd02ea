import { BoundedMap } from '../../primitives/bounded-map'
import { steadyClock } from '../../primitives/steady-clock'
import type { Client } from '../../protocol/client'
import { isUse, type NoteUse } from '../../stores/noting-uses'
import type { DynamicClientStore } from '../../stores/dynamic-client-store'
import { isDynamicClientId } from './client-id'

/** Seconds. */
export const day = 24 * 3600

/** Seconds. The client's owner may be about to log in. */
export const gracePeriod = 600

const maximumClients = 10_000

/** Lifetimes are seconds. */
interface ClientUsesParts {
  readonly store: Pick<DynamicClientStore, 'extend'>
  /** At least two days longer than every token. */
  readonly lifetime: number
  /** From an authorization request to its code or token. */
  readonly requestLifetime: number
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

interface KnownClient {
  /** Seconds since the epoch. */
  readonly issuedAt: number | undefined
  /** Milliseconds of the clock. */
  readonly notedAt: number | undefined
  readonly hasLogin: boolean
}

const unknownClient: KnownClient = { issuedAt: undefined, notedAt: undefined, hasLogin: false }

/**
 * A process notes the use of a client once a day, and the store writes nothing if another process has noted
 * it that day.
 */
export class ClientUses {
  private readonly clients = new BoundedMap<KnownClient>(maximumClients)
  // A clock that was set back would stop the notes until it has caught up.
  private readonly clock: () => number

  constructor(private readonly parts: ClientUsesParts) {
    this.clock = steadyClock(parts.clock)
  }

  get lifetime(): number {
    return this.parts.lifetime
  }

  found(clientId: string, issuedAt: number): void {
    if (this.clients.get(clientId)?.issuedAt !== issuedAt)
      this.clients.put(clientId, { ...unknownClient, issuedAt })
  }

  readonly note: NoteUse = (authorization) => {
    const { clientId } = authorization
    if (!isDynamicClientId(clientId) || this.isNoted(clientId)) return undefined
    return isUse(authorization) ? this.noteUse(clientId) : this.noteRequest(clientId)
  }

  /**
   * Holds a client in a full store while its first owner logs in: only then does a record show its use. Once
   * per client, because any stranger can send its request here.
   */
  readonly holdForLogin = async ({ client_id, selfRegistered }: Client): Promise<void> => {
    const known = this.knownOf(client_id)
    if (selfRegistered !== true || this.isNoted(client_id) || known.hasLogin) return
    this.clients.put(client_id, { ...known, hasLogin: true })
    await this.parts.store.extend(client_id, gracePeriod, 0).catch(() => undefined)
  }

  private async noteUse(clientId: string): Promise<void> {
    const { store, lifetime } = this.parts
    this.clients.put(clientId, { ...this.knownOf(clientId), notedAt: this.clock() })
    try {
      await store.extend(clientId, lifetime, lifetime - day)
    } catch {
      this.clients.put(clientId, { ...this.knownOf(clientId), notedAt: undefined })
    }
  }

  // A client must not end while its first resource owner is deciding.
  private async noteRequest(clientId: string): Promise<void> {
    const { store, requestLifetime } = this.parts
    await store.extend(clientId, requestLifetime, requestLifetime)
  }

  private isNoted(clientId: string): boolean {
    const { notedAt } = this.knownOf(clientId)
    return notedAt !== undefined && this.clock() - notedAt < day * 1000
  }

  private knownOf(clientId: string): KnownClient {
    return this.clients.get(clientId) ?? unknownClient
  }
}
