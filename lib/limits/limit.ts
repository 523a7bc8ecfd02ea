import { aNumber } from '../primitives/fields'
import { type Field, type Fields, group, orOff } from '../primitives/schema'

export interface Limit {
  /** A whole number from 1 to 1 000 000. */
  readonly attempts: number
  /** Whole seconds from 1 to 86 400. */
  readonly seconds: number
}

/** A missing member has its default. `false` switches the limit off. */
export type LimitOption = Partial<Limit> | false

/** At least 1: in the last moment of a count, `Retry-After: 0` would invite the client to retry at once. */
export const secondsToWait = (secondsLeft: number): number => Math.max(1, Math.ceil(secondsLeft))

const quarterOfAnHour = 900
const mostAttempts = 1_000_000
const longest = 24 * 3600

/** Undefined if it is off. */
export function aLimit(attempts: number, seconds = quarterOfAnHour): Field<Limit | undefined> {
  const members = { attempts: aNumber(attempts, 1, mostAttempts), seconds: aNumber(seconds, 1, longest) }
  return orOff<Limit | undefined>(undefined, group(members satisfies Fields<Limit>))
}
