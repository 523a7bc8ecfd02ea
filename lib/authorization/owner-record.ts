import { isList } from '../primitives/values'

export interface OwnerEntry {
  /** 22 characters of base64url. The record may have ended, or may not exist yet. */
  readonly authorizationId: string
  readonly clientId: string
  /** Whether the scope has `openid`: the client knows who the owner is. */
  readonly openId: boolean
  /** Seconds since the epoch: the entry may then go. */
  readonly until: number
}

/** What the owner has allowed a client. */
export interface OwnedClient {
  readonly clientId: string
  readonly consent: string
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

// An entry is a text: the id, a letter for `openid`, the end in base 36, and the place of the client in a list.
const idLength = 22
const endLength = 7

/** About 35 bytes for each entry. */
export function encodeOwner(record: OwnerRecord): string {
  const { revocation, revokedAt, revokedUntil, withdrawal, withdrawnUntil, entries, consents } = record
  const clients = [...new Set(entries.map(({ clientId }) => clientId))]
  const places = new Map(clients.map((clientId, place) => [clientId, place]))
  const texts = entries.map(
    ({ authorizationId, clientId, openId, until }) =>
      authorizationId +
      (openId ? 'o' : '-') +
      Math.ceil(until).toString(36).padStart(endLength, '0') +
      (places.get(clientId) ?? 0).toString(36),
  )
  const rows = consents.map(({ clientId, consent, until }) => [clientId, until, consent])
  const times = [revokedAt, revokedUntil, withdrawnUntil].map(Math.ceil)
  return JSON.stringify([revocation, withdrawal, ...times, clients, texts.join(' '), rows])
}

/** @throws Error for a text of another form. */
export function decodeOwner(text: string): OwnerRecord {
  const fields: unknown = JSON.parse(text)
  const [revocation, withdrawal, ...places] = listOf(fields)
  const [revokedAt, revokedUntil, withdrawnUntil, clients, entries, consents] = places
  return {
    revocation: textOf(revocation),
    revokedAt: numberOf(revokedAt),
    revokedUntil: numberOf(revokedUntil),
    withdrawal: textOf(withdrawal),
    withdrawnUntil: numberOf(withdrawnUntil),
    entries: entriesOf(textOf(entries), listOf(clients)),
    consents: listOf(consents).map((row) => {
      const [clientId, until, consent] = listOf(row)
      return { clientId: textOf(clientId), until: numberOf(until), consent: textOf(consent) }
    }),
  }
}

function entriesOf(text: string, clients: readonly unknown[]): readonly OwnerEntry[] {
  if (text === '') return []
  return text.split(' ').map((entry) => ({
    authorizationId: entry.slice(0, idLength),
    openId: entry[idLength] === 'o',
    until: Number.parseInt(entry.slice(idLength + 1, idLength + 1 + endLength), 36),
    clientId: textOf(clients[Number.parseInt(entry.slice(idLength + 1 + endLength), 36)]),
  }))
}

function listOf(value: unknown): readonly unknown[] {
  if (isList(value)) return value
  throw strange()
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw strange()
}

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value
  throw strange()
}

const strange = () => new Error('The stored text is no record of a resource owner.')
