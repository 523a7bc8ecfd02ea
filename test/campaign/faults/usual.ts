import type { Chance } from '../../support/chance'
import type { Direction, FaultyNetwork } from '../../support/faulty-network'
import type { RedisServer } from '../../support/redis-server'
import { sendCommand, type Stage } from '../stages/stage'
import type { Fault, FaultTable, Scene } from './fault'

type AnyScene = Scene<Stage>
type UsualFault = Fault<Stage>

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
      const end = await begin(context.chance.any(await context.stage.masters()), context)
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
  network((each, { chance }) => {
    // From hardly noticeable to slower than the deadline.
    each.delayOneWay(direction, chance.between(5, 1200))
    return (same) => same.delayOneWay(direction, 0)
  })

/** Milliseconds: many soon, and some after the deadline of creates. */
const lateness = (chance: Chance): number => 20 + Math.round(chance.share() ** 2 * 2400)

/** A share of writes comes once more, or late alone. */
const stragglers = (share: number, lateBy: (chance: Chance) => number, withheld = false): UsualFault =>
  network((each, { chance }) => {
    each.straggle({ isMeant: () => chance.share() < share, lateness: () => lateBy(chance), withheld })
    return (same) => same.straggle(undefined)
  })

/** What can happen to any Redis, on the way to it, and to the processes. */
export const usualFaults: FaultTable<Stage> = {
  'process killed': process(async ({ processes, place }) => {
    await processes.killOne(place)
    return () => processes.startAgain(place)
  }),
  'process stopped': process(async ({ processes, place }) => {
    processes.signal(place, 'SIGSTOP')
    return async () => processes.signal(place, 'SIGCONT')
  }),
  'clock steps': {
    begin: async ({ processes, place, chance }) => {
      processes.setAhead(place, chance.between(-clockSteps, clockSteps))
      return async () => processes.setAhead(place, 0)
    },
  },
  'clock leaps': {
    begin: async ({ processes, place, chance, losses }) => {
      const from = performance.now()
      const seconds = chance.between(120, 2 * 24 * 3600)
      processes.setAhead(place, chance.below(2) === 0 ? seconds : -seconds)
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
    begin: async ({ way, chance }) => {
      const timer = setInterval(() => chance.any(way).loseReplies(1), chance.between(30, 150))
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
  'writes duplicated': stragglers(1, (chance) => chance.between(0, 3)),
  'writes withheld, then late': stragglers(0.15, lateness, true),
  'copies of writes late': stragglers(0.5, lateness),
  'Redis stopped': redis(async (master) => {
    await master.kill('SIGSTOP')
    return () => master.kill('SIGCONT')
  }),
  'Redis slow': redis(async (master, { lasts, chance }) => {
    await sendCommand(master, 'CLIENT', 'PAUSE', String(lasts), chance.among(['WRITE', 'ALL']))
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
