import type { Polled } from '../authorization/authorization'
import { isText } from '../primitives/options-reader'
import type { ConsentFact } from '../protocol/extension'
import { dataOf } from '../protocol/extension-data'
import type { Json } from '../protocol/json'

/** The name of the plug-in, under which the record keeps what this module needs until the decision. */
export const deviceAuthorizationName = 'device-authorization'

/** What the record keeps of a device authorization request until the decision. */
export interface KeptRequest {
  /** When the request came, in seconds since the epoch. */
  readonly at: number
  /** The end of the user code. The record stays longer, so that the client hears of the end. */
  readonly until: number
  /** The address of the client; undefined if it was not known. */
  readonly address: string | undefined
  /** What extensions add to the page. */
  readonly facts: readonly ConsentFact[]
  /** Seconds between two polls. */
  readonly interval: number
  /** The last poll; undefined before the first one. */
  readonly polledAt: number | undefined
  /** When an owner was sent to the login for the request, the last time; undefined if none was. */
  readonly loginDemandedAt?: number | undefined
}

/** A record with what the page and the polls need. */
export function withKept<Record extends Pick<Polled, 'extensionData'>>(
  record: Record,
  { at, until, address, facts, interval, polledAt, loginDemandedAt }: KeptRequest,
): Record {
  const listed = facts.map(({ name, label, values }): Json => [
    name,
    label,
    values.map(({ value, description }) => [value, description]),
  ])
  const kept = [at, until, address ?? null, listed, interval, polledAt ?? null, loginDemandedAt ?? null]
  return { ...record, extensionData: { ...record.extensionData, [deviceAuthorizationName]: kept } }
}

/** A record without this data: after the decision, nothing needs it. */
export function withoutKept<Record extends Pick<Polled, 'extensionData'>>(record: Record): Record {
  const { [deviceAuthorizationName]: _, ...others } = record.extensionData
  return { ...record, extensionData: others }
}

/** Reads what the record keeps; undefined after the decision, and in a record of another plug-in. */
export function keptIn({ extensionData }: Pick<Polled, 'extensionData'>): KeptRequest | undefined {
  const kept = dataOf(deviceAuthorizationName, extensionData)
  if (!Array.isArray(kept)) return undefined
  const [at, until, address, facts, interval, polledAt, loginDemandedAt]: readonly unknown[] = kept
  if (typeof at !== 'number' || typeof until !== 'number' || typeof interval !== 'number') return undefined
  return {
    at,
    until,
    address: isText(address) ? address : undefined,
    facts: Array.isArray(facts) ? facts.flatMap(factIn) : [],
    interval,
    polledAt: timeIn(polledAt),
    loginDemandedAt: timeIn(loginDemandedAt),
  }
}

const timeIn = (listed: unknown) => (typeof listed === 'number' ? listed : undefined)

function factIn(listed: unknown): readonly ConsentFact[] {
  if (!Array.isArray(listed)) return []
  const [name, label, values]: readonly unknown[] = listed
  if (!isText(name) || !isText(label) || !Array.isArray(values)) return []
  return [{ name, label, values: values.flatMap(valueIn) }]
}

function valueIn(listed: unknown): ConsentFact['values'] {
  if (!Array.isArray(listed)) return []
  const [value, description]: readonly unknown[] = listed
  return isText(value) && isText(description) ? [{ value, description }] : []
}
