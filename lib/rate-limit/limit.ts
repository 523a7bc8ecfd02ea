import { OptionsReader } from '../protocol/configuration'

/** How many attempts may fail, and after how many seconds from the first one the count begins anew. */
export interface Limit {
  readonly attempts: number
  readonly seconds: number
}

/** A limit as a host gives it: what is left out keeps its default, and `false` switches the limit off. */
export type LimitOption = Partial<Limit> | false

/** Seconds after which to come again: in the last instant of a count no whole second is left, and 0 would mean at once. */
export const secondsToWait = (secondsLeft: number): number => Math.max(1, secondsLeft)

const quarterOfAnHour = 900

/** Reads an option that holds several limits, each with its default number of attempts and seconds: a quarter of an hour. */
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

/** Reads a limit; undefined when it is switched off. */
export function readLimit(reading: OptionsReader, key: string, fallback: Limit): Limit | undefined {
  const given = reading.take(key)
  if (given === undefined) return fallback
  if (given === false) return undefined
  const fields = new OptionsReader(given, reading.at(key), reading.issues)
  const number = (name: keyof Limit, most: number) =>
    fields.optional(name, fallback[name], isWithin(most), `must be a whole number, 1 to ${most}.`)
  const limit = { attempts: number('attempts', mostAttempts), seconds: number('seconds', longest) }
  fields.refuseUnknown()
  return limit
}

const isWithin =
  (most: number) =>
  (value: unknown): value is number =>
    Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most
