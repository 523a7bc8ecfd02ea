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
  /** Whether the scope has `openid`: the client knows who the owner is. */
  readonly openId: boolean
  /** Seconds since the epoch: the entry may then go. */
  readonly until: number
}

export interface RememberedConsent {
  /** The client when the owner decided. */
  readonly fingerprint: string
  readonly entries: readonly AllowedEntry[]
}

/** For certain facts and one answer. */
export interface AllowedEntry {
  /** Seconds since the epoch. */
  readonly at: number
  /** Empty if the page asked nothing. */
  readonly choice: string
  readonly facts: readonly string[]
  readonly scope: Scope
}

/** What the owner has allowed a client. */
export interface OwnedClient {
  readonly clientId: string
  readonly consent: RememberedConsent
  readonly until: number
}

export interface OwnerRecord {
  /** A new random name with each end of everything; empty for none. */
  readonly revocation: string
  readonly revokedAt: number
  readonly revokedUntil: number
  /** A new random name with each consent that is taken back; empty for none. */
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

// An entry is a text: the id, a letter for `openid`, the end in base 36, and the index of the client in a list. About 35
// bytes for each.
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

/** Undefined for anything else. */
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

/** @throws Error for a text of another form. */
export const decodeOwner = (encoded: string): OwnerRecord => ownerRecord.read(elementsOf(encoded))

// In characters: every entry writes the consents again.
const longestConsent = 16_384
const longestConsents = 65_536

/**
 * The consents with this one, which loses its oldest parts if it is too long. Of all together, those that end first go.
 * Undefined if even its newest part is too long.
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
