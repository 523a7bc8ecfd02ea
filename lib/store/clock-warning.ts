/** Milliseconds. */
const apartAtMost = 5000

/** In milliseconds since the epoch: a database read its clock between two readings of the clock of this process. */
interface Readings {
  readonly before: number
  readonly there: number
  readonly after: number
}

/** Undefined if the clocks agree, or if the database did not tell its time. */
export function clockWarning<Code extends string>(
  code: Code,
  database: string,
  { before, there, after }: Readings,
): { readonly code: Code; readonly message: string } | undefined {
  const apart = Math.max(before - there, there - after)
  if (!(apart > apartAtMost)) return undefined
  const direction = there < before ? 'ahead of' : 'behind'
  const message = `The clock of this process is ${Math.round(apart / 1000)} s ${direction} that of ${database}. Tokens begin and end by the clocks of the processes that issue and guard them: synchronize all of these clocks, with NTP.`
  return { code, message }
}
