import { setTimeout } from 'node:timers/promises'
import type { BehindSentinel } from '../stages/behind-sentinel'
import { acknowledgedBefore } from './acknowledged-before'
import type { FaultTable } from './fault'

export const behindSentinel: FaultTable<BehindSentinel> = {
  'Sentinel fails over to a lagging replica': {
    touches: 'Redis',
    begin: async ({ stage, losses, chance }) => {
      const [master] = await stage.masters()
      // It happens once.
      if (master === undefined || stage.isSpent) return async () => {}
      const from = await acknowledgedBefore(master)
      await stage.leaveReplicaBehind()
      await setTimeout(chance.between(50, 500))
      await stage.failOver()
      losses.push({ of: 'some', from, to: Infinity })
      return async () => {}
    },
  },
}
