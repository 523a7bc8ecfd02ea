import { indexOwner } from '../authorization/authorization-index'
import type { ConsentStore } from '../authorization/consent-store'
import type { Client } from '../protocol/client'
import {
  clientFingerprint,
  decodeConsent,
  encodeConsent,
  type RememberedConsent,
  type RememberedDecision,
  since,
  withDecision,
} from './remembered-consent'

/** What a server needs to remember consents. */
interface MemoryTerms {
  readonly store: ConsentStore
  readonly issuerDigest: string
  /** How long a consent counts. */
  readonly seconds: number
  /** Seconds since the epoch. */
  readonly now: () => number
  /**
   * The time until which nothing counts that owners allowed a client, in seconds since the epoch; -Infinity if all counts.
   * Default: all counts.
   */
  readonly revokedBefore?: ((clientId: string) => Promise<number>) | undefined
}

/** The consents that a server remembers. */
export class ConsentMemory {
  constructor(private readonly terms: MemoryTerms) {}

  /** This moment, for the age of a decision: the store measures real time, whatever clock the host has. */
  moment(): number {
    return performance.now()
  }

  /**
   * Finds what an owner has allowed a client. Forgets it if the client has changed since then.
   *
   * @returns undefined if nothing counts.
   */
  async find(subject: string, client: Client): Promise<RememberedConsent | undefined> {
    const consent = await this.read(subject, client.client_id)
    if (consent === undefined) return undefined
    if (consent.fingerprint === clientFingerprint(client)) return consent
    await this.terms.store.forget(this.ownerOf(subject), client.client_id)
    return undefined
  }

  /**
   * Remembers a decision of an owner. Of two decisions at once, the last one counts.
   *
   * @param ownerReadAt the moment before the owner was read. An owner who has taken something back since then is asked
   * again.
   */
  async remember(
    subject: string,
    clientId: string,
    decision: RememberedDecision,
    ownerReadAt: number,
  ): Promise<void> {
    const { store, seconds } = this.terms
    const text = encodeConsent(withDecision(await this.read(subject, clientId), decision))
    if (text === undefined) return
    const age = (this.moment() - ownerReadAt) / 1000
    await store.remember(this.ownerOf(subject), clientId, text, { seconds, age })
  }

  private async read(subject: string, clientId: string): Promise<RememberedConsent | undefined> {
    const { store, seconds, now, revokedBefore } = this.terms
    const text = await store.find(this.ownerOf(subject), clientId)
    const consent = text === undefined ? undefined : decodeConsent(text)
    if (consent === undefined) return undefined
    const mark = revokedBefore === undefined ? -Infinity : await revokedBefore(clientId)
    return since(consent, Math.max(now() - seconds, mark))
  }

  private ownerOf(subject: string): string {
    return indexOwner(this.terms.issuerDigest, subject)
  }
}
