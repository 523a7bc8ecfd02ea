import {
  consentsAtMost,
  type ConsentStore,
  type RememberTerms,
  type StoredConsent,
  longestDecision,
} from '../authorization/consent-store'
import { ExpiringMap } from '../primitives/expiring-map'
import { InMemory } from './in-memory'

/** Times: milliseconds of the store's clock. */
class OwnerConsents {
  readonly consents = new Map<string, { readonly text: string; readonly end: number }>()
  forgottenAt = -Infinity
  end = 0

  put(clientId: string, text: string, end: number, now: number): void {
    if (!this.consents.has(clientId) && this.consents.size >= consentsAtMost) this.makeRoom(now)
    this.consents.set(clientId, { text, end })
    this.end = Math.max(this.end, end)
  }

  private makeRoom(now: number): void {
    for (const [clientId, { end }] of this.consents) if (end <= now) this.consents.delete(clientId)
    if (this.consents.size < consentsAtMost) return
    const [first] = [...this.consents].toSorted(([, one], [, other]) => one.end - other.end)
    if (first !== undefined) this.consents.delete(first[0])
  }
}

export class MemoryConsents extends InMemory implements ConsentStore {
  private readonly owners: ExpiringMap<OwnerConsents>

  /** @param clock milliseconds, never steps. */
  constructor(
    maximumOwners: number,
    private readonly clock: () => number,
  ) {
    super()
    this.owners = new ExpiringMap(maximumOwners, clock)
  }

  // No verb contains an await: each is atomic.
  async find(owner: string, clientId: string): Promise<string | undefined> {
    const found = this.owners.get(owner)?.consents.get(clientId)
    return found !== undefined && found.end > this.clock() ? found.text : undefined
  }

  async list(owner: string): Promise<readonly StoredConsent[]> {
    const now = this.clock()
    const known = [...(this.owners.get(owner)?.consents ?? [])].filter(([, { end }]) => end > now)
    return known.map(([clientId, { text }]) => ({ clientId, consent: text }))
  }

  async remember(
    owner: string,
    clientId: string,
    consent: string,
    { seconds, age }: RememberTerms,
  ): Promise<boolean> {
    const now = this.clock()
    const known = this.owners.get(owner) ?? new OwnerConsents()
    if (age > longestDecision || known.forgottenAt >= now - age * 1000) return false
    known.put(clientId, consent, now + seconds * 1000, now)
    this.keep(owner, known)
    return true
  }

  async forget(owner: string, clientId: string | undefined): Promise<void> {
    const now = this.clock()
    const known = this.owners.get(owner) ?? new OwnerConsents()
    if (clientId === undefined) known.consents.clear()
    else known.consents.delete(clientId)
    known.forgottenAt = now
    known.end = Math.max(known.end, now + longestDecision * 1000)
    this.keep(owner, known)
  }

  private keep(owner: string, known: OwnerConsents): void {
    if (!this.owners.set(owner, known, known.end))
      throw new Error('The consents of the memory store are full.')
  }
}
