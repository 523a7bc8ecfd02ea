import { Chance } from '../support/chance'
import { finalReads } from './final-reads'
import type { Attempt } from './history'
import type { Lane } from './hostile/lane'
import type { RunPlan } from './plan'
import { Recorder } from './recorder'
import { Visitor } from './visitors'

// Milliseconds between two requests of a visitor at most.
const pause = 20

/** Visitors at servers, and those who send hostile requests beside them. */
export class Load {
  readonly recorder: Recorder
  private readonly stop = new AbortController()
  private readonly all: readonly Promise<unknown>[]

  /** @param hostile each of them sends so many requests at most. */
  constructor(
    urls: readonly string[],
    { visitors, habits, mix, seed, resting }: RunPlan,
    hostile: { readonly lanes: readonly Lane[]; readonly kinds: readonly string[]; readonly most: number },
  ) {
    this.recorder = new Recorder(urls)
    this.recorder.resting = resting
    const { signal } = this.stop
    const manner = { habits, mix, pause, signal }
    const stays = Array.from({ length: visitors }, (_, index) =>
      new Visitor(this.recorder, new Chance(seed * 1000 + index), manner).stay(),
    )
    const sent = hostile.lanes.map((lane) => lane.send(hostile.most, hostile.kinds, () => signal.aborted))
    this.all = [...stays, ...sent]
    this.sent = Promise.all(sent)
  }

  /** Resolves when all hostile requests are sent. */
  readonly sent: Promise<unknown>

  /** Ends the load, whatever came of it: visitors that stay would keep their process for ever. */
  async leave(): Promise<void> {
    this.stop.abort()
    await Promise.allSettled(this.all)
    this.recorder.close()
  }

  /** Ends the load, and presents everything once more. Resolves to all that was recorded. */
  async end(settled: () => Promise<unknown> = () => Promise.resolve()): Promise<readonly Attempt[]> {
    this.stop.abort()
    await Promise.all(this.all)
    await settled()
    await finalReads(this.recorder)
    return this.recorder.attempts
  }
}
