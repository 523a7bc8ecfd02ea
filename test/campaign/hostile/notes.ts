import { complaintsAbout, type Sent } from './answers'
import { bytesOf } from './message'
import type { Answer } from './wire'

// Different complaints after which nothing more is sent.
const enough = 20

/** What hostile requests have shown so far. */
export class Notes {
  /** Each complaint once, with the first request that brought it. */
  readonly complaints = new Map<string, string>()
  /** How many were sent, and how many of them were still good. */
  sent = 0
  won = 0

  /** @param isCalm whether nothing breaks meanwhile: else any request may end in trouble. */
  constructor(readonly isCalm: boolean) {}

  get isFull(): boolean {
    return this.complaints.size >= enough
  }

  take(sent: Sent, answer: Answer): void {
    this.sent += 1
    if (sent.attempt.won(answer)) this.won += 1
    for (const complaint of complaintsAbout(sent, answer, this.isCalm))
      this.complain(`${sent.attempt.kind}: ${complaint}`, story(sent, answer))
  }

  /** A valid request cannot be made. */
  lacks(kind: string, why: string): void {
    if (this.isCalm) this.complain(`a valid flow fails: ${kind}`, why)
  }

  complain(complaint: string, story: string): void {
    if (!this.complaints.has(complaint)) this.complaints.set(complaint, story)
  }
}

const story = ({ message }: Sent, { status, headers, body }: Answer): string =>
  `${JSON.stringify(bytesOf(message).toString('latin1')).slice(0, 1500)}\n-> ${status} ${JSON.stringify(headers)} ${body.slice(0, 500)}`
