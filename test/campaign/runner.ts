import type { FaultTable } from './faults'
import { faultsOf, type RunPlan, type Topology } from './plan'
import { playInMemory, playOn, type Outcome, type Terms } from './run'
import { BehindSentinel } from './stages/behind-sentinel'
import { OneFile } from './stages/one-file'
import { OneServer } from './stages/one-server'
import { SyncedPair } from './stages/synced-pair'
import { ThreeMasters } from './stages/three-masters'
import type { Stage } from './stages/stage'

/** A place of runs, which stays open from run to run. */
interface Place {
  readonly stage?: Stage & { readonly isSpent?: boolean }
  readonly play: (plan: RunPlan, terms?: Terms) => Promise<Outcome>
}

const place =
  <S extends Stage>(start: () => Promise<S>, table: FaultTable<S>) =>
  async (): Promise<Place> => {
    const stage = await start()
    return { stage, play: (plan, terms) => playOn(stage, table, plan, terms) }
  }

const places: Readonly<Record<Topology, () => Promise<Place>>> = {
  memory: async () => ({ play: playInMemory }),
  single: place(() => OneServer.start(false), faultsOf.single),
  replicated: place(() => OneServer.start(true), faultsOf.replicated),
  cluster: place(() => ThreeMasters.start(), faultsOf.cluster),
  sentinel: place(() => BehindSentinel.start(), faultsOf.sentinel),
  file: place(() => OneFile.start(), faultsOf.file),
  postgres: place(() => SyncedPair.start(), faultsOf.postgres),
}

/** Plays runs, on databases that go on from run to run. */
export class Runner {
  private readonly open = new Map<Topology, Promise<Place>>()

  async play(plan: RunPlan, terms?: Terms): Promise<Outcome> {
    const { topology } = plan
    const opening = this.open.get(topology) ?? places[topology]()
    this.open.set(topology, opening)
    const { stage, play } = await opening
    let isWhole = false
    try {
      const outcome = await play(plan, terms)
      await stage?.empty()
      isWhole = stage?.isSpent !== true
      return outcome
    } finally {
      // Nothing is known about what a fault left behind that did not end.
      if (!isWhole) {
        this.open.delete(topology)
        await stage?.stop()
      }
    }
  }

  async close(): Promise<void> {
    const settled = await Promise.allSettled(this.open.values())
    for (const each of settled) if (each.status === 'fulfilled') await each.value.stage?.stop()
  }
}
