import type { WarningCode } from '../protocol/warning-code'
import type { StoreWarning } from './store'

// A late copy of a create could bring back a removed record: each has a deadline by the clock of the database, which
// every reply brings. One that is void too early, for want of a good clock, goes out again.
export class CreationDeadline {
  // At most so many milliseconds ahead of `performance.now`.
  private ahead: number | undefined

  // Milliseconds after the call until a create is void.
  constructor(private readonly patience: number) {}

  // `run` resolves to the clock of the database in milliseconds, negative if the create is void; to 0 for a conflict,
  // to -1 if a removal is marked.
  async send(run: (deadline: string) => Promise<number>): Promise<boolean> {
    const until = performance.now() + this.patience
    const first = await this.attempt(until, run)
    const reply = first < -1 && performance.now() < until ? await this.attempt(until, run) : first
    if (reply === -1) throw new Error('The record was removed.')
    if (reply < 0) throw new Error('The record was not created: the command reached the database too late.')
    return reply > 0
  }

  private async attempt(until: number, run: (deadline: string) => Promise<number>): Promise<number> {
    const sentAt = performance.now()
    const deadline = this.ahead === undefined ? 0 : Math.ceil(until + this.ahead)
    const reply = await run(String(deadline))
    // The database read its clock after `sentAt`. A slow reply is too vague for the next deadline.
    const isRecent = performance.now() - sentAt <= this.patience
    if (Math.abs(reply) > 1 && isRecent) this.ahead = Math.abs(reply) - sentAt
    return reply
  }
}

type Surrounding = readonly [isSo: boolean, code: WarningCode, message: string]

export const warningsOf = (...found: readonly Surrounding[]): readonly StoreWarning[] =>
  found.flatMap(([isSo, code, message]) => (isSo ? [{ code, message }] : []))

// Milliseconds.
const apartAtMost = 5000

// In milliseconds since the epoch.
interface Readings {
  readonly before: number
  readonly there: number
  readonly after: number
}

// Not so either if the database did not tell its time.
export function clocksApart(
  code: WarningCode,
  database: string,
  { before, there, after }: Readings,
): Surrounding {
  const apart = Math.max(before - there, there - after)
  const direction = there < before ? 'ahead of' : 'behind'
  const message = `The clock of this process is ${Math.round(apart / 1000)} s ${direction} that of ${database}. Tokens begin and end by the clocks of the processes that issue and guard them: synchronize all of these clocks, with NTP.`
  return [apart > apartAtMost, code, message]
}
