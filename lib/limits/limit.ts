import { OptionsReader } from '../primitives/options-reader'
import { isWhole } from '../primitives/values'

/** The option with the limit says which attempts count. */
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

/** @param resolve reads one limit by key, default attempts and default seconds (900 if left out). */
export function readLimits<Limits>(
  reading: OptionsReader,
  option: string,
  resolve: (limit: (key: string, attempts: number, seconds?: number) => Limit | undefined) => Limits,
): Limits {
  const given = reading.take(option)
  const fields = new OptionsReader(given === undefined ? {} : given, reading.at(option), reading.issues)
  const limits = resolve((key, attempts, seconds = quarterOfAnHour) =>
    readLimit(fields, key, { attempts, seconds }),
  )
  fields.refuseUnknown()
  return limits
}

const mostAttempts = 1_000_000
const longest = 24 * 3600

export function readLimit(reading: OptionsReader, key: string, fallback: Limit): Limit | undefined {
  const given = reading.take(key)
  if (given === undefined) return fallback
  if (given === false) return undefined
  const fields = new OptionsReader(given, reading.at(key), reading.issues)
  const number = (name: keyof Limit, most: number) =>
    fields.optional(name, fallback[name], isWhole(1, most), `must be a whole number, 1 to ${most}.`)
  const limit = { attempts: number('attempts', mostAttempts), seconds: number('seconds', longest) }
  fields.refuseUnknown()
  return limit
}
