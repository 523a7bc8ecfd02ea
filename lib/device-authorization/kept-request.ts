import type { Authorization, Polled } from '../authorization/authorization'
import { isText } from '../primitives/values'
import type { ConsentFact } from '../protocol/extension'
import { dataOf } from '../protocol/extension-data'
import type { Json } from '../protocol/json'

export const deviceAuthorizationName = 'device-authorization'

interface KeptRequest {
  /** Seconds since the epoch. */
  readonly at: number
  /** Of the user code. The record outlives it, so the client hears of the end. */
  readonly until: number
  readonly address: string | undefined
  readonly facts: readonly ConsentFact[]
  /** Seconds. */
  readonly interval: number
  readonly polledAt: number | undefined
  /** The last time an owner was sent to the login. */
  readonly loginDemandedAt?: number | undefined
}

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

export function withoutKept<Record extends Pick<Polled, 'extensionData'>>(record: Record): Record {
  const { [deviceAuthorizationName]: _, ...others } = record.extensionData
  return { ...record, extensionData: others }
}

export interface OpenRequest {
  readonly polled: Polled
  readonly kept: KeptRequest
}

/** Undefined after the decision, too. */
export function openIn(current: Authorization | undefined): OpenRequest | undefined {
  const kept = current?.state === 'polled' ? keptIn(current) : undefined
  return current?.state === 'polled' && kept !== undefined ? { polled: current, kept } : undefined
}

function keptIn({ extensionData }: Polled): KeptRequest | undefined {
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
