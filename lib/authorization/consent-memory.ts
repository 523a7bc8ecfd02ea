import { ownerName, type Owners } from './owners'
import { inTurns } from '../primitives/concurrency'
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
  readonly owners: Owners
  readonly issuerDigest: string
  readonly seconds: number
  /** Seconds since the epoch. */
  readonly now: () => number
  /** In seconds since the epoch; what owners allowed up to it counts no more. Default: all counts (-Infinity). */
  readonly revokedBefore?: ((clientId: string) => Promise<number>) | undefined
}

export class ConsentMemory {
  constructor(private readonly terms: MemoryTerms) {}

  /** Forgets the consent if the client has changed. */
  async find(subject: string, client: Client): Promise<RememberedConsent | undefined> {
    const consent = await this.read(subject, client.client_id)
    if (consent === undefined) return undefined
    if (consent.fingerprint === clientFingerprint(client)) return consent
    await this.terms.owners.forget(this.ownerOf(subject), client.client_id)
    return undefined
  }

  async list(subject: string): Promise<readonly ListedConsent[]> {
    const { consents } = await this.terms.owners.read(this.ownerOf(subject))
    const listed = await inTurns(consents, async ({ clientId, consent: text }) => {
      const consent = await this.counting(clientId, text)
      if (consent === undefined || consent.entries.length === 0) return []
      const times = consent.entries.map(({ at }) => at)
      const [grantedAt, expiresAt] = [Math.min(...times), Math.max(...times) + this.terms.seconds]
      return [{ clientId, ...allowedIn(consent), grantedAt, expiresAt }]
    })
    return listed.flat().toSorted((one, other) => (one.clientId < other.clientId ? -1 : 1))
  }

  /** @param names that were read with the owner. One who has taken something back since is asked again. */
  async remember(
    subject: string,
    clientId: string,
    decision: RememberedDecision,
    names: string,
  ): Promise<void> {
    const { owners, seconds, now } = this.terms
    const from = await this.countsFrom(clientId)
    await owners.remember(this.ownerOf(subject), clientId, names, (before) => {
      const consent = encodeConsent(withDecision(consentIn(before, from), decision))
      return consent === undefined ? undefined : { clientId, consent, until: now() + seconds }
    })
  }

  private async read(subject: string, clientId: string): Promise<RememberedConsent | undefined> {
    const { consents } = await this.terms.owners.read(this.ownerOf(subject))
    const found = consents.find((each) => each.clientId === clientId)
    return found && this.counting(clientId, found.consent)
  }

  private async counting(clientId: string, text: string): Promise<RememberedConsent | undefined> {
    return consentIn(text, await this.countsFrom(clientId))
  }

  private async countsFrom(clientId: string): Promise<number> {
    const { seconds, now, revokedBefore } = this.terms
    const mark = revokedBefore === undefined ? -Infinity : await revokedBefore(clientId)
    return Math.max(now() - seconds, mark)
  }

  private ownerOf(subject: string): string {
    return ownerName(this.terms.issuerDigest, subject)
  }
}

function consentIn(text: string | undefined, from: number): RememberedConsent | undefined {
  const consent = text === undefined ? undefined : decodeConsent(text)
  return consent && since(consent, from)
}
