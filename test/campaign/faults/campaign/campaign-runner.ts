import type { CampaignStage } from './campaign-stage'
import { ofACluster } from './cluster-faults'
import { OneServer } from './one-server'
import { ofAPair, ofOneRedis } from './one-server-faults'
import type { RunPlan, Topology } from './plan'
import { run, type Outcome, type Terms } from './run'
import { ThreeMasters } from './three-masters'
import { usualFaults } from './usual-faults'

type Play = (plan: RunPlan, terms?: Terms) => Promise<Outcome>

/** A Redis of some kind, and how a run on it goes. */
interface Setting {
  readonly stage: CampaignStage
  readonly play: Play
}

const settings: Readonly<Record<Topology, () => Promise<Setting>>> = {
  single: async () => {
    const stage = await OneServer.start(false)
    const table = { ...usualFaults, ...ofOneRedis }
    return { stage, play: (plan, terms) => run(plan, { ...terms, stage, table }) }
  },
  replicated: async () => {
    const stage = await OneServer.start(true)
    const table = { ...usualFaults, ...ofAPair }
    return { stage, play: (plan, terms) => run(plan, { ...terms, stage, table }) }
  },
  cluster: async () => {
    const stage = await ThreeMasters.start()
    const table = { ...usualFaults, ...ofACluster }
    return {
      stage,
      play: (plan, terms) => {
        stage.waits = plan.waits
        return run(plan, { ...terms, stage, table })
      },
    }
  },
}

/** Runs of the campaign, on servers of Redis that go on from run to run. */
export class CampaignRunner {
  private readonly open = new Map<Topology, Promise<Setting>>()

  async play(plan: RunPlan, terms?: Terms): Promise<Outcome> {
    const { topology } = plan
    const opening = this.open.get(topology) ?? settings[topology]()
    this.open.set(topology, opening)
    const { stage, play } = await opening
    try {
      const outcome = await play(plan, terms)
      await stage.empty()
      return outcome
    } catch (error) {
      // Nothing is known about what a fault left behind that did not end.
      this.open.delete(topology)
      await stage.stop()
      throw error
    }
  }

  async close(): Promise<void> {
    const settled = await Promise.allSettled(this.open.values())
    for (const each of settled) if (each.status === 'fulfilled') await each.value.stage.stop()
  }
}
