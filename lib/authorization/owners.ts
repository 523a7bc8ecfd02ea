import { inTurns } from '../primitives/concurrency'
import { changeRecord } from '../store/change'
import type { Store } from '../store/store'
import { createId, digest, secureRandom } from '../protocol/credential'
import { isTexts } from '../primitives/values'
import type { Json } from '../protocol/json'
import type { Scope } from '../protocol/scope'
import {
  group,
  inline,
  integer,
  isList,
  elementsOf,
  type Place,
  place,
  rows,
  text,
  textOr,
  texts,
  recordText,
} from './places'

export interface OwnerEntry {
  /** 22 characters of base64url. The record may have ended, or may not exist yet. */
  readonly authorizationId: string
  readonly clientId: string
  /** The client then knows who the owner is. */
  readonly openId: boolean
  /** The entry may then go, in seconds since the epoch. */
  readonly until: number
}

export interface RememberedConsent {
  /** The client when the owner decided. */
  readonly fingerprint: string
  readonly entries: readonly AllowedEntry[]
}

/** For certain facts and one answer. */
export interface AllowedEntry {
  readonly at: number
  /** Empty if the page asked nothing. */
  readonly choice: string
  readonly facts: readonly string[]
  readonly scope: Scope
}

export interface OwnedClient {
  readonly clientId: string
  readonly consent: RememberedConsent
  readonly until: number
}

interface OwnerRecord {
  /** New and random with each end of everything; empty for none. */
  readonly revocation: string
  readonly revokedAt: number
  readonly revokedUntil: number
  /** New and random with each consent that is taken back; empty for none. */
  readonly withdrawal: string
  readonly withdrawnUntil: number
  /** The oldest first. */
  readonly entries: readonly OwnerEntry[]
  readonly consents: readonly OwnedClient[]
}

export const nobody: OwnerRecord = {
  revocation: '',
  revokedAt: 0,
  revokedUntil: 0,
  withdrawal: '',
  withdrawnUntil: 0,
  entries: [],
  consents: [],
}

// A fraction of a second must not end anything too early.
const end = (at: number): Place<number> => place(at, Math.ceil, integer(at).read)

const allowedEntry = group<AllowedEntry>({
  at: integer(0),
  choice: textOr('', 1),
  facts: texts(2),
  scope: texts(3),
})

const ownedClient = group<OwnedClient>({
  clientId: text(0),
  until: end(1),
  consent: inline(group<RememberedConsent>({ fingerprint: text(2), entries: rows(3, allowedEntry) })),
})

// An entry is a text of about 35 bytes: id, a letter for `openid`, end in base 36, index of the client in a list.
const idLength = 22
const endLength = 7

function packed(entries: readonly OwnerEntry[]): Json {
  const clients = [...new Set(entries.map(({ clientId }) => clientId))]
  const indexOf = new Map(clients.map((clientId, index) => [clientId, index]))
  const written = entries.map(
    ({ authorizationId, clientId, openId, until }) =>
      authorizationId +
      (openId ? 'o' : '-') +
      Math.ceil(until).toString(36).padStart(endLength, '0') +
      (indexOf.get(clientId) ?? 0).toString(36),
  )
  return [clients, written.join(' ')]
}

function unpacked(element: Json | undefined): readonly OwnerEntry[] | undefined {
  const [clients, joined] = isList(element) ? element : []
  if (!isTexts(clients) || typeof joined !== 'string') return undefined
  const all = joined === '' ? [] : joined.split(' ')
  const entries = all.flatMap((entry) => {
    const clientId = clients[Number.parseInt(entry.slice(idLength + 1 + endLength), 36)]
    const until = Number.parseInt(entry.slice(idLength + 1, idLength + 1 + endLength), 36)
    const openId = entry[idLength] === 'o'
    return clientId === undefined
      ? []
      : [{ authorizationId: entry.slice(0, idLength), clientId, openId, until }]
  })
  return entries.length === all.length ? entries : undefined
}

const ownerRecord = group<OwnerRecord>({
  revocation: textOr('', 0),
  revokedAt: end(1),
  revokedUntil: end(2),
  withdrawal: textOr('', 3),
  withdrawnUntil: end(4),
  entries: place(5, packed, unpacked),
  consents: rows(6, ownedClient),
})

export const encodeOwner = (record: OwnerRecord): string => recordText(record, ownerRecord)

export const decodeOwner = (encoded: string): OwnerRecord => ownerRecord.read(elementsOf(encoded))

// Characters: every entry writes the consents again.
export const longestConsent = 16_384
export const longestConsents = 65_536

/**
 * A long one loses its oldest parts; of all together, those that end first go. Undefined if its newest part is too long.
 */
export function withConsent(
  others: readonly OwnedClient[],
  { clientId, until, consent }: OwnedClient,
): readonly OwnedClient[] | undefined {
  const parts = consent.entries
  for (let dropped = 0; dropped < parts.length; dropped++) {
    const kept = { clientId, until, consent: { ...consent, entries: parts.slice(dropped) } }
    const length = lengthOf(kept)
    if (length <= longestConsent) return [...lastEnding(others, longestConsents - length), kept]
  }
  return undefined
}

const lengthOf = (owned: OwnedClient): number => recordText(owned, ownedClient).length

function lastEnding(consents: readonly OwnedClient[], room: number): readonly OwnedClient[] {
  const length = consents.reduce((sum, each) => sum + lengthOf(each), 0)
  if (length <= room) return consents
  const first = consents.reduce((one, other) => (other.until < one.until ? other : one))
  return lastEnding(
    consents.filter((each) => each !== first),
    room,
  )
}

/** 59 characters of base64url. */
export const ownerName = (issuerDigest: string, subject: string): string => issuerDigest + digest(subject)

/** Seconds for a decision: what an owner takes back meanwhile stays taken back. */
const usualDecision = 3600

/** Seconds: nothing is dropped as ended before every clock says so. */
const clocksApart = 300

/** Seconds after a revocation. */
const approvalWaits = 5

/**
 * - `revoked`: the owner has ended everything since the approval began.
 * - `full`: the owner has no room. Nothing was entered.
 */
type EntryOutcome = 'entered' | 'revoked' | 'full'

/**
 * Authorizations and remembered consents of one owner at one issuer. Clocks differ, so a new random name, not a time,
 * ends the approvals under way: they carry the names that were read with their owner.
 */
export class Owners {
  constructor(
    private readonly store: Store,
    private readonly issuerDigest: string,
    /** Seconds since the epoch. */
    private readonly now: () => number,
    private readonly requestLifetime: number,
    private readonly left: (clientId: string, owner: string) => Promise<void> = async () => {},
  ) {}

  async read(subject: string): Promise<OwnerRecord> {
    return this.live((await this.store.read(this.keyOf(subject)))?.value)
  }

  /**
   * @param began the names that were read with the owner; without names, the time of the approval; undefined for what
   * no revocation ends.
   */
  enter(
    subject: string,
    entry: OwnerEntry,
    isFull: (others: readonly OwnerEntry[]) => boolean,
    began: string | number | undefined,
  ): Promise<EntryOutcome> {
    return this.change(subject, (record) => {
      if (began !== undefined && isRevoked(record, began)) return { outcome: 'revoked' }
      const others = record.entries.filter(({ authorizationId }) => authorizationId !== entry.authorizationId)
      if (isFull(others)) return { outcome: 'full' }
      return { next: { ...record, entries: [...others, entry] }, outcome: 'entered' }
    })
  }

  async drop(subject: string, authorizationIds: readonly string[]): Promise<void> {
    if (authorizationIds.length === 0) return
    const isGone = new Set(authorizationIds)
    const left = await this.change<readonly string[]>(subject, (record) => {
      const entries = record.entries.filter(({ authorizationId }) => !isGone.has(authorizationId))
      if (entries.length === record.entries.length) return { outcome: [] }
      const before = new Set(record.entries.map(({ clientId }) => clientId))
      const outcome = [...before].filter((id) => !entries.some(({ clientId }) => clientId === id))
      return { next: { ...record, entries }, outcome }
    })
    await inTurns(left, (clientId) => this.left(clientId, ownerName(this.issuerDigest, subject)))
  }

  /**
   * Ends every approval under way and every consent. @param seconds that an authorization without an entry may live.
   */
  revoke(subject: string, seconds: number): Promise<readonly OwnerEntry[]> {
    return this.change(subject, (record) => {
      const next = { ...record, ...this.takenBack(), consents: [] }
      const revokedAt = this.now()
      const revokedUntil = revokedAt + Math.max(seconds, this.longestDecision)
      return { next: { ...next, revocation: newName(), revokedAt, revokedUntil }, outcome: record.entries }
    })
  }

  /** Unless the owner has taken back something since the names were read. */
  async remember(
    subject: string,
    clientId: string,
    names: string,
    replace: (before: RememberedConsent | undefined) => OwnedClient,
  ): Promise<void> {
    await this.change(subject, (record) => {
      if (isNewer(record.withdrawal, withdrawalIn(names))) return { outcome: undefined }
      const before = record.consents.find((each) => each.clientId === clientId)
      const others = record.consents.filter((each) => each !== before)
      const consents = withConsent(others, replace(before?.consent))
      return { next: consents && { ...record, consents }, outcome: undefined }
    })
  }

  forget(subject: string, clientId: string): Promise<readonly OwnerEntry[]> {
    return this.change(subject, (record) => {
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
    subject: string,
    decide: (record: OwnerRecord) => { readonly next?: OwnerRecord | undefined; readonly outcome: Outcome },
  ): Promise<Outcome> {
    return changeRecord(this.store, this.keyOf(subject), (value) => {
      const { next, outcome } = decide(this.live(value))
      if (next === undefined) return { outcome }
      const seconds = Math.max(1, lastEndOf(next) - this.now() + clocksApart)
      return { write: { value: encodeOwner(next), seconds }, outcome }
    })
  }

  private readonly keyOf = (subject: string): string => `owner:${ownerName(this.issuerDigest, subject)}`

  private live(value: string | undefined): OwnerRecord {
    if (value === undefined) return nobody
    const record = decodeOwner(value)
    const before = this.now() - clocksApart
    return {
      ...record,
      revocation: record.revokedUntil > before ? record.revocation : '',
      withdrawal: record.withdrawnUntil > before ? record.withdrawal : '',
      entries: record.entries.filter(({ until }) => until > before),
      consents: record.consents.filter(({ until }) => until > before),
    }
  }
}

const newName = () => createId(secureRandom)

export const namesIn = ({ revocation, withdrawal }: OwnerRecord): string => `${revocation}.${withdrawal}`

// None: the last one has ended, and there was none since.
const isNewer = (current: string, carried: string): boolean => current !== '' && current !== carried

// Without names there are only times, of clocks that may differ: the approval waits.
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
