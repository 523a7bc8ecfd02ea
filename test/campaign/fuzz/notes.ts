import { complaintsAbout, type Sent } from './judge'
import { bytesOf } from './message'
import type { Answer } from './wire'

/** What a run has seen so far. */
export class Notes {
  readonly complaints = new Map<string, string>()
  private readonly statuses: Record<number, number> = {}
  private won = 0

  constructor(private readonly patience: number) {}

  get isFull(): boolean {
    return this.complaints.size >= this.patience
  }

  take(sent: Sent, answer: Answer): void {
    this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1
    if (sent.attempt.won(answer)) this.won += 1
    for (const complaint of complaintsAbout(sent, answer))
      this.complain(`${sent.attempt.kind}: ${complaint}`, story(sent, answer))
  }

  complain(complaint: string, story: string): void {
    if (!this.complaints.has(complaint)) this.complaints.set(complaint, story)
  }

  seen() {
    return { statuses: this.statuses, won: this.won, complaints: this.complaints }
  }
}

const story = ({ message }: Sent, { status, headers, body }: Answer): string =>
  `${JSON.stringify(bytesOf(message).toString('latin1')).slice(0, 1500)}\n-> ${status} ${JSON.stringify(headers)} ${body.slice(0, 500)}`
