import { BoundedMap } from '../../primitives/bounded-map'
import { steadyClock } from '../../primitives/steady-clock'
import { isUse, type NoteUse } from '../../stores/noting-uses'
import { isDynamicClientId } from './client-id'
import type { DynamicClientRecords } from './dynamic-clients'

/** Seconds. */
export const day = 24 * 3600

const maximumClients = 10_000

/** Lifetimes are seconds. */
interface ClientUsesParts {
  readonly records: Pick<DynamicClientRecords, 'extend' | 'awaitOwner'>
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
}

const unknownClient: KnownClient = { issuedAt: undefined, notedAt: undefined }

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

  private async noteUse(clientId: string): Promise<void> {
    const { records, lifetime } = this.parts
    this.clients.put(clientId, { ...this.knownOf(clientId), notedAt: this.clock() })
    try {
      await records.extend(clientId, lifetime, lifetime - day)
    } catch {
      this.clients.put(clientId, { ...this.knownOf(clientId), notedAt: undefined })
    }
  }

  // A client must not end while its first resource owner is deciding.
  private async noteRequest(clientId: string): Promise<void> {
    const { records, requestLifetime } = this.parts
    await records.awaitOwner(clientId, requestLifetime)
  }

  private isNoted(clientId: string): boolean {
    const { notedAt } = this.knownOf(clientId)
    return notedAt !== undefined && this.clock() - notedAt < day * 1000
  }

  private knownOf(clientId: string): KnownClient {
    return this.clients.get(clientId) ?? unknownClient
  }
}
