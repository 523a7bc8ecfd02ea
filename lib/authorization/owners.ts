import { inTurns } from '../primitives/concurrency'
import { changeRecord } from '../store/change'
import type { Store } from '../store/store'
import { createId, digest, secureRandom } from '../protocol/credential'
import {
  decodeOwner,
  encodeOwner,
  nobody,
  type OwnedClient,
  type OwnerEntry,
  type OwnerRecord,
  type RememberedConsent,
  withConsent,
} from './owner-record'

/** Names the owner at one issuer: 59 characters of base64url. */
export const ownerName = (issuerDigest: string, subject: string): string => issuerDigest + digest(subject)

/** Seconds that a decision may take from the page that asks: what an owner takes back meanwhile stays taken back. */
const usualDecision = 3600

/** Seconds. Clocks differ: nothing is dropped as ended before every clock says so. */
const clocksApart = 300

/** Seconds after a revocation. */
const approvalWaits = 5

/**
 * - `revoked`: the owner has ended everything since the approval began.
 * - `full`: the owner has no room for it. Nothing was entered.
 */
type EntryOutcome = 'entered' | 'revoked' | 'full'

/**
 * What each owner has at one issuer, as one record: authorizations, and remembered consents. Only processes have a
 * clock, and their clocks differ. So what ends approvals under way is a new random name, not a time: an approval
 * carries the names that were read with its owner.
 */
export class Owners {
  constructor(
    private readonly store: Store,
    /** Seconds since the epoch. */
    private readonly now: () => number,
    /** Seconds that a request waits for its owner. */
    private readonly requestLifetime: number,
    /** An owner has nothing left of a client. */
    private readonly left: (clientId: string, owner: string) => Promise<void> = async () => {},
  ) {}

  async read(owner: string): Promise<OwnerRecord> {
    return this.live((await this.store.read(keyOf(owner)))?.value)
  }

  /**
   * @param isFull judges the other entries.
   * @param began the names that were read with the owner; without names, the time of the approval; undefined for what
   *   no revocation ends.
   */
  enter(
    owner: string,
    entry: OwnerEntry,
    isFull: (others: readonly OwnerEntry[]) => boolean,
    began: string | number | undefined,
  ): Promise<EntryOutcome> {
    return this.change(owner, (record) => {
      if (began !== undefined && isRevoked(record, began)) return { outcome: 'revoked' }
      const others = record.entries.filter(({ authorizationId }) => authorizationId !== entry.authorizationId)
      if (isFull(others)) return { outcome: 'full' }
      return { next: { ...record, entries: [...others, entry] }, outcome: 'entered' }
    })
  }

  async drop(owner: string, authorizationIds: readonly string[]): Promise<void> {
    if (authorizationIds.length === 0) return
    const isGone = new Set(authorizationIds)
    const left = await this.change<readonly string[]>(owner, (record) => {
      const entries = record.entries.filter(({ authorizationId }) => !isGone.has(authorizationId))
      if (entries.length === record.entries.length) return { outcome: [] }
      const before = new Set(record.entries.map(({ clientId }) => clientId))
      const outcome = [...before].filter((id) => !entries.some(({ clientId }) => clientId === id))
      return { next: { ...record, entries }, outcome }
    })
    await inTurns(left, (clientId) => this.left(clientId, owner))
  }

  /**
   * Ends every approval under way and every consent, and returns the entries.
   *
   * @param seconds that an authorization without an entry may live.
   */
  revoke(owner: string, seconds: number): Promise<readonly OwnerEntry[]> {
    return this.change(owner, (record) => {
      const next = { ...record, ...this.takenBack(), consents: [] }
      const revokedAt = this.now()
      const revokedUntil = revokedAt + Math.max(seconds, this.longestDecision)
      return { next: { ...next, revocation: newName(), revokedAt, revokedUntil }, outcome: record.entries }
    })
  }

  /** Replaces the consent, unless the owner has taken back something since the names were read. */
  async remember(
    owner: string,
    clientId: string,
    names: string,
    replace: (before: RememberedConsent | undefined) => OwnedClient,
  ): Promise<void> {
    await this.change(owner, (record) => {
      if (isNewer(record.withdrawal, withdrawalIn(names))) return { outcome: undefined }
      const before = record.consents.find((each) => each.clientId === clientId)
      const others = record.consents.filter((each) => each !== before)
      const consents = withConsent(others, replace(before?.consent))
      return { next: consents && { ...record, consents }, outcome: undefined }
    })
  }

  /** Ends the consent for this client, and returns the entries. */
  forget(owner: string, clientId: string): Promise<readonly OwnerEntry[]> {
    return this.change(owner, (record) => {
      const consents = record.consents.filter((each) => each.clientId !== clientId)
      return { next: { ...record, ...this.takenBack(), consents }, outcome: record.entries }
    })
  }

  private takenBack(): Pick<OwnerRecord, 'withdrawal' | 'withdrawnUntil'> {
    return { withdrawal: newName(), withdrawnUntil: this.now() + this.longestDecision }
  }

  private get longestDecision(): number {
    return Math.max(usualDecision, this.requestLifetime)
  }

  private change<Outcome>(
    owner: string,
    decide: (record: OwnerRecord) => { readonly next?: OwnerRecord | undefined; readonly outcome: Outcome },
  ): Promise<Outcome> {
    return changeRecord(this.store, keyOf(owner), (value) => {
      const { next, outcome } = decide(this.live(value))
      if (next === undefined) return { outcome }
      const seconds = Math.max(1, lastEndOf(next) - this.now() + clocksApart)
      return { write: { value: encodeOwner(next), seconds }, outcome }
    })
  }

  private live(value: string | undefined): OwnerRecord {
    if (value === undefined) return nobody
    const record = decodeOwner(value)
    const before = this.now() - clocksApart
    return {
      revocation: record.revokedUntil > before ? record.revocation : '',
      revokedAt: record.revokedAt,
      revokedUntil: record.revokedUntil,
      withdrawal: record.withdrawnUntil > before ? record.withdrawal : '',
      withdrawnUntil: record.withdrawnUntil,
      entries: record.entries.filter(({ until }) => until > before),
      consents: record.consents.filter(({ until }) => until > before),
    }
  }
}

const keyOf = (owner: string) => `owner:${owner}`

const newName = () => createId(secureRandom)

/** For an approval to carry. */
export const namesIn = ({ revocation, withdrawal }: OwnerRecord): string => `${revocation}.${withdrawal}`

// None: the last one has ended, and there was none since.
const isNewer = (current: string, carried: string): boolean => current !== '' && current !== carried

// Without names, an approval and a revocation have only times, of clocks that may differ: the approval waits.
export const isRevoked = ({ revocation, revokedAt }: OwnerRecord, began: string | number): boolean =>
  typeof began === 'string'
    ? isNewer(revocation, revocationIn(began))
    : revocation !== '' && began <= revokedAt + approvalWaits

const revocationIn = (names: string): string => names.split('.', 1)[0] ?? ''
const withdrawalIn = (names: string): string => names.slice(names.indexOf('.') + 1)

const lastEndOf = ({ revokedUntil, withdrawnUntil, entries, consents }: OwnerRecord): number =>
  [...entries, ...consents].reduce(
    (last, { until }) => Math.max(last, until),
    Math.max(revokedUntil, withdrawnUntil),
  )
