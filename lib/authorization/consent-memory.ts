import { indexOwner } from './authorization-index'
import type { ConsentStore } from './consent-store'
import { inTurns } from '../primitives/in-turns'
import type { Client } from '../protocol/client'
import type { Scope } from '../protocol/scope'
import {
  allowedIn,
  clientFingerprint,
  decodeConsent,
  encodeConsent,
  type RememberedConsent,
  type RememberedDecision,
  since,
  withDecision,
} from './remembered-consent'

/** What an owner has allowed a client, which so gets in without a page. */
export interface ListedConsent {
  readonly clientId: string
  readonly scope: Scope
  /** The single claims of OpenID Connect that the owner has allowed besides. */
  readonly claims: readonly string[]
  /** When the owner first allowed a part, in seconds since the epoch. */
  readonly grantedAt: number
  /** When the last part ends, in seconds since the epoch. */
  readonly expiresAt: number
}

interface MemoryTerms {
  readonly store: ConsentStore
  readonly issuerDigest: string
  readonly seconds: number
  /** Seconds since the epoch. */
  readonly now: () => number
  /** In seconds since the epoch; what owners allowed up to it counts no more. Default: all counts (-Infinity). */
  readonly revokedBefore?: ((clientId: string) => Promise<number>) | undefined
}

export class ConsentMemory {
  constructor(private readonly terms: MemoryTerms) {}

  /** For the age of a decision: the store measures real time, whatever clock the host has. */
  moment(): number {
    return performance.now()
  }

  /** Forgets the consent if the client has changed. */
  async find(subject: string, client: Client): Promise<RememberedConsent | undefined> {
    const consent = await this.read(subject, client.client_id)
    if (consent === undefined) return undefined
    if (consent.fingerprint === clientFingerprint(client)) return consent
    await this.terms.store.forget(this.ownerOf(subject), client.client_id)
    return undefined
  }

  async list(subject: string): Promise<readonly ListedConsent[]> {
    const stored = await this.terms.store.list(this.ownerOf(subject))
    const listed = await inTurns(stored, async ({ clientId, consent: text }) => {
      const consent = await this.counting(clientId, text)
      if (consent === undefined || consent.entries.length === 0) return []
      const times = consent.entries.map(({ at }) => at)
      const [grantedAt, expiresAt] = [Math.min(...times), Math.max(...times) + this.terms.seconds]
      return [{ clientId, ...allowedIn(consent), grantedAt, expiresAt }]
    })
    return listed.flat().toSorted((one, other) => (one.clientId < other.clientId ? -1 : 1))
  }

  /** @param ownerReadAt before the owner was read. One who has taken something back since is asked again. */
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
    const text = await this.terms.store.find(this.ownerOf(subject), clientId)
    return text === undefined ? undefined : this.counting(clientId, text)
  }

  private async counting(clientId: string, text: string): Promise<RememberedConsent | undefined> {
    const { seconds, now, revokedBefore } = this.terms
    const consent = decodeConsent(text)
    if (consent === undefined) return undefined
    const mark = revokedBefore === undefined ? -Infinity : await revokedBefore(clientId)
    return since(consent, Math.max(now() - seconds, mark))
  }

  private ownerOf(subject: string): string {
    return indexOwner(this.terms.issuerDigest, subject)
  }
}
