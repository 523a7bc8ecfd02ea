import type { Direction, FaultyNetwork, Stragglers } from '../../../support/faulty-network'
import type { RedisServer } from '../../../support/redis-server'
import { sendCommand } from '../single-stage'
import type { CampaignStage } from './campaign-stage'
import { anyOf, between, type CampaignFault, type FaultTable, type FaultContext } from './campaign-fault'

type AnyScene = FaultContext<CampaignStage>
type UsualFault = CampaignFault<CampaignStage>

/** Seconds by which a clock may differ without a word about it: less than the grace, together. */
export const clockSteps = 10

const process = (begin: UsualFault['begin']): UsualFault => ({ touches: 'process', begin })

/** What is on the way of one process, until it ends. */
function network(
  begin: (network: FaultyNetwork, context: AnyScene) => (network: FaultyNetwork) => void,
): UsualFault {
  return {
    begin: async (context) => {
      const ends = context.way.map((each) => ({ each, end: begin(each, context) }))
      return async () => ends.forEach(({ each, end }) => end(each))
    },
  }
}

/** What happens to one server that takes writes. */
function redis(
  begin: (master: RedisServer, context: AnyScene) => Promise<() => Promise<unknown>>,
): UsualFault {
  return {
    touches: 'Redis',
    begin: async (context) => {
      const end = await begin(anyOf(context.random, await context.stage.masters()), context)
      return async () => void (await end())
    },
  }
}

const setting = (name: string, wrong: string, right: string): UsualFault =>
  redis(async (master) => {
    await sendCommand(master, 'CONFIG', 'SET', name, wrong)
    return () => sendCommand(master, 'CONFIG', 'SET', name, right)
  })

const delayed = (direction: Direction): UsualFault =>
  network((each, { random }) => {
    // From hardly noticeable to slower than the deadline.
    each.delayOneWay(direction, between(random, 5, 1200))
    return (same) => same.delayOneWay(direction, 0)
  })

/** Milliseconds: many soon, and some after the deadline of creates. */
const lateness = (random: () => number): number => 20 + Math.round(random() ** 2 * 2400)

const stragglers = (how: (random: () => number) => Stragglers): UsualFault =>
  network((each, { random }) => {
    each.straggle(how(random))
    return (same) => same.straggle(undefined)
  })

/** What can happen to any Redis, on the way to it, and to the processes. */
export const usualFaults: FaultTable<CampaignStage> = {
  'process killed': process(async ({ processes, place }) => {
    await processes.killOne(place)
    return () => processes.startAgain(place)
  }),
  'process stopped': process(async ({ processes, place }) => {
    processes.signal(place, 'SIGSTOP')
    return async () => processes.signal(place, 'SIGCONT')
  }),
  'clock steps': {
    begin: async ({ processes, place, random }) => {
      processes.setAhead(place, between(random, -clockSteps, clockSteps))
      return async () => processes.setAhead(place, 0)
    },
  },
  'clock leaps': {
    begin: async ({ processes, place, random, losses }) => {
      const from = performance.now()
      const seconds = between(random, 120, 2 * 24 * 3600)
      processes.setAhead(place, random() < 0.5 ? seconds : -seconds)
      return async () => {
        processes.setAhead(place, 0)
        // The process hears of it a moment later. The loss ends when the process serves again.
        losses.push({ of: 'time', from, to: Infinity })
      }
    },
  },
  'connections cut': network((each) => {
    each.loseReplies(Infinity)
    each.refuse(true)
    return (same) => {
      same.loseReplies(0)
      same.refuse(false)
    }
  }),
  'replies lost': {
    begin: async ({ way, random }) => {
      const timer = setInterval(() => anyOf(random, way).loseReplies(1), between(random, 30, 150))
      return async () => {
        clearInterval(timer)
        for (const each of way) each.loseReplies(0)
      }
    },
  },
  'connections silent': network((each) => {
    each.silence()
    return () => {}
  }),
  'commands delayed': delayed('commands'),
  'replies delayed': delayed('replies'),
  'writes duplicated': stragglers((random) => ({
    isMeant: () => true,
    lateness: () => between(random, 0, 3),
    withheld: false,
  })),
  'writes withheld, then late': stragglers((random) => ({
    isMeant: () => random() < 0.15,
    lateness: () => lateness(random),
    withheld: true,
  })),
  'copies of writes late': stragglers((random) => ({
    isMeant: () => random() < 0.5,
    lateness: () => lateness(random),
    withheld: false,
  })),
  'Redis stopped': redis(async (master) => {
    await master.kill('SIGSTOP')
    return () => master.kill('SIGCONT')
  }),
  'Redis slow': redis(async (master, { lasts, random }) => {
    await sendCommand(master, 'CLIENT', 'PAUSE', String(lasts), random() < 0.5 ? 'WRITE' : 'ALL')
    return async () => {}
  }),
  'Redis full': setting('maxmemory', '1mb', '0'),
  // On one Redis there is no replica, and on the others there is one.
  'Redis read-only': setting('min-replicas-to-write', '2', '0'),
  'scripts flushed': {
    touches: 'Redis',
    begin: async ({ stage }) => {
      const flush = async () => {
        for (const master of await stage.masters()) await sendCommand(master, 'SCRIPT', 'FLUSH')
      }
      await flush()
      return flush
    },
  },
  'data lost': {
    touches: 'Redis',
    begin: async ({ stage, losses }) => {
      const from = performance.now()
      await stage.empty()
      losses.push({ of: 'all', from, to: performance.now() })
      return async () => {}
    },
  },
}
