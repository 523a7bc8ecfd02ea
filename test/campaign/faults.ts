import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Chance } from '../support/chance'
import type { Direction, FaultyNetwork } from '../support/faulty-network'
import type { RedisServer } from '../support/redis-server'
import { waitUntil } from '../support/wait-until'
import type { Loss } from './history'
import type { Processes } from './processes'
import type { BehindSentinel } from './stages/behind-sentinel'
import type { OneFile } from './stages/one-file'
import type { OneServer } from './stages/one-server'
import { type RedisStage, sendCommand, type Stage } from './stages/stage'
import type { SyncedPair } from './stages/synced-pair'
import type { ThreeMasters } from './stages/three-masters'

/** Where a fault happens. */
interface Scene<S> {
  readonly stage: S
  readonly processes: Processes
  /** The process that it concerns. */
  readonly place: number
  /** What lies between this process and the database. */
  readonly way: readonly FaultyNetwork[]
  readonly chance: Chance
  /** Milliseconds for which it lasts. */
  readonly lasts: number
  /** The prefix of all keys. */
  readonly prefix: string
  /** Adds what it did to the data, until now or until every process serves again. */
  readonly lose: (of: Loss['of'], from: number, until?: 'recovered', registrationsOnly?: boolean) => unknown
}

/** Ends a fault. */
type End = () => unknown
type Begin<S> = (scene: Scene<S>) => Promise<End>

interface Fault<S> {
  /** What no other fault may touch meanwhile; undefined where faults do not disturb each other. */
  readonly touches?: 'database' | 'process'
  readonly begin: Begin<S>
}

export type FaultTable<S> = Readonly<Record<string, Fault<S>>>

/** Seconds by which a clock may differ without a word about it: less than the grace, together. */
export const clockSteps = 10

const nothing = (): void => {}

const process = (begin: Begin<Stage>): Fault<Stage> => ({ touches: 'process', begin })
const database = <S>(begin: Begin<S>): Fault<S> => ({ touches: 'database', begin })
const redis = (begin: Begin<RedisStage>): Fault<RedisStage> => database(begin)

/** What is on the way of one process, until it ends. */
const network = (
  begin: (network: FaultyNetwork, scene: Scene<Stage>) => void,
  end: (network: FaultyNetwork) => void,
): Fault<Stage> => ({
  begin: async (scene) => {
    for (const each of scene.way) begin(each, scene)
    return () => scene.way.forEach(end)
  },
})

/** What happens to one server that takes writes. */
const server = <S extends RedisStage = RedisStage>(
  begin: (master: RedisServer, scene: Scene<S>) => Promise<End>,
): Fault<S> => database<S>(async (scene) => begin(scene.chance.any(await scene.stage.masters()), scene))

const emptied: Fault<Stage> = database(async ({ stage, lose }) => {
  const from = performance.now()
  await stage.empty()
  lose('all', from)
  return nothing
})

const setting = (name: string, wrong: string, right: string): Fault<RedisStage> =>
  server(async (master) => {
    await sendCommand(master, 'CONFIG', 'SET', name, wrong)
    return () => sendCommand(master, 'CONFIG', 'SET', name, right)
  })

// From hardly noticeable to slower than the deadline.
const delayed = (direction: Direction): Fault<Stage> =>
  network(
    (each, { chance }) => each.delayOneWay(direction, chance.between(5, 1200)),
    (each) => each.delayOneWay(direction, 0),
  )

/** Milliseconds: many soon, and some after the deadline of creates. */
const lateness = (chance: Chance): number => 20 + Math.round(chance.share() ** 2 * 2400)

/** A share of writes comes once more, or late alone. */
const stragglers = (share: number, lateBy: (chance: Chance) => number, withheld = false): Fault<RedisStage> =>
  network(
    (each, { chance }) =>
      each.straggle({ isMeant: () => chance.share() < share, lateness: () => lateBy(chance), withheld }),
    (each) => each.straggle(undefined),
  )

/** What can happen to the processes. */
export const anywhere = {
  'process killed': process(async ({ processes, place }) => {
    await processes.killOne(place)
    return () => processes.startAgain(place)
  }),
  'process stopped': process(async ({ processes, place }) => {
    processes.signal(place, 'SIGSTOP')
    return () => processes.signal(place, 'SIGCONT')
  }),
  'clock steps': {
    begin: async ({ processes, place, chance }) => {
      processes.setAhead(place, chance.between(-clockSteps, clockSteps))
      return () => processes.setAhead(place, 0)
    },
  },
  'clock leaps': {
    begin: async ({ processes, place, chance, lose }) => {
      const from = performance.now()
      const seconds = chance.between(120, 2 * 24 * 3600)
      processes.setAhead(place, chance.below(2) === 0 ? seconds : -seconds)
      return () => {
        processes.setAhead(place, 0)
        // The process hears of it a moment later.
        lose('time', from, 'recovered')
      }
    },
  },
} satisfies FaultTable<Stage>

/** What can happen to any Redis. */
export const ofRedis = {
  'Redis full': setting('maxmemory', '1mb', '0'),
  'scripts flushed': redis(async ({ stage }) => {
    const flush = async () => {
      for (const master of await stage.masters()) await sendCommand(master, 'SCRIPT', 'FLUSH')
    }
    await flush()
    return flush
  }),
  'data lost': emptied,
} satisfies FaultTable<RedisStage>

/** What can happen where a network lies before the database, and where nobody swaps servers that are silent. */
export const overNetworks = {
  'connections cut': network(
    (each) => {
      each.loseReplies(Infinity)
      each.refuse(true)
    },
    (each) => {
      each.loseReplies(0)
      each.refuse(false)
    },
  ),
  'replies lost': {
    begin: async ({ way, chance }) => {
      const timer = setInterval(() => chance.any(way).loseReplies(1), chance.between(30, 150))
      return () => {
        clearInterval(timer)
        for (const each of way) each.loseReplies(0)
      }
    },
  },
  'connections silent': network((each) => each.silence(), nothing),
  'commands delayed': delayed('commands'),
  'replies delayed': delayed('replies'),
} satisfies FaultTable<Stage>

/** What can also happen on the way to a Redis. */
export const onTheWayToRedis = {
  'writes duplicated': stragglers(1, (chance) => chance.between(0, 3)),
  'writes withheld, then late': stragglers(0.15, lateness, true),
  'copies of writes late': stragglers(0.5, lateness),
  'Redis stopped': server(async (master, { stage }) => {
    await master.kill('SIGSTOP')
    return async () => {
      await master.kill('SIGCONT')
      await stage.isWhole()
    }
  }),
  'Redis slow': server(async (master, { lasts, chance }) => {
    await sendCommand(master, 'CLIENT', 'PAUSE', String(lasts), chance.among(['WRITE', 'ALL']))
    return nothing
  }),
} satisfies FaultTable<RedisStage>

// Where it has one replica.
const readOnly = { 'Redis read-only': setting('min-replicas-to-write', '2', '0') }

export const ofOneRedis: FaultTable<OneServer> = {
  'Redis read-only': database(async ({ stage }) => {
    await stage.tell('REPLICAOF', '127.0.0.1', '1')
    return () => stage.tell('REPLICAOF', 'NO', 'ONE')
  }),
  'Redis killed, its data kept': database(async ({ stage }) => {
    await stage.server.kill('SIGKILL')
    return () => stage.restart('kept')
  }),
  'Redis killed, its data lost': database(async ({ stage, lose }) => {
    const from = performance.now()
    await stage.server.kill('SIGKILL')
    return async () => {
      await stage.restart('lost')
      lose('all', from)
    }
  }),
}

/** Kills the master and makes its replica one. Registrations do not wait for replicas, and may be lost. */
const masterKilled = (leaveBehind?: (scene: Scene<OneServer>) => Promise<unknown>): Fault<OneServer> =>
  database(async (scene) => {
    const { stage, lose } = scene
    const from = await acknowledgedBefore(stage.server)
    await leaveBehind?.(scene)
    await stage.server.kill('SIGKILL')
    if (leaveBehind !== undefined) await stage.signalReplica('SIGCONT')
    await stage.promote()
    lose('some', from, undefined, true)
    return () => stage.rejoin('killed')
  })

export const ofAPair: FaultTable<OneServer> = {
  ...readOnly,
  'switchover to the replica': database(async ({ stage, lose }) => {
    const from = performance.now()
    await stage.switchOver()
    lose('reads', from, 'recovered')
    return () => stage.isWhole()
  }),
  'master killed, replica promoted': masterKilled(),
  // What comes after its link is cut never reaches a replica that cannot connect again.
  'master killed, lagging replica promoted': masterKilled(async ({ stage, chance }) => {
    await stage.signalReplica('SIGSTOP')
    await stage.tell('CLIENT', 'KILL', 'TYPE', 'replica')
    await setTimeout(chance.between(50, 500))
  }),
  // A master that is cut off from its replica serves reads until it learns that it is no longer the master.
  'master cut off, replica promoted': database(async ({ stage, lose }) => {
    const from = await acknowledgedBefore(stage.server)
    await stage.promote()
    lose('reads', from, 'recovered')
    return async () => {
      await stage.rejoin('alive')
      lose('some', from, undefined, true)
    }
  }),
  'replica stopped': database(async ({ stage }) => {
    await stage.signalReplica('SIGSTOP')
    return async () => {
      await stage.signalReplica('SIGCONT')
      await stage.isWhole()
    }
  }),
}

export const ofACluster: FaultTable<ThreeMasters> = {
  ...readOnly,
  'slot migrates': database(migrateSlots),
  'node switched over': server(async (master, { stage, lose }) => {
    const from = performance.now()
    await sendCommand(await stage.replicaOf(master), 'CLUSTER', 'FAILOVER')
    lose('reads', from, 'recovered')
    return () => stage.isWhole()
  }),
  'node killed, its replica promoted': server(async (master, { stage, lose }) => {
    const replica = await stage.replicaOf(master)
    const from = await acknowledgedBefore(master)
    await master.kill('SIGKILL')
    await sendCommand(replica, 'CLUSTER', 'FAILOVER', 'TAKEOVER')
    lose('some', from, undefined, stage.waits)
    return async () => {
      await stage.restart(master)
      await stage.isWhole()
    }
  }),
}

export const behindSentinel: FaultTable<BehindSentinel> = {
  'Sentinel fails over to a lagging replica': server(async (master, { stage, lose, chance }) => {
    // It happens once.
    if (stage.isSpent) return nothing
    const from = await acknowledgedBefore(master)
    await stage.leaveReplicaBehind()
    await setTimeout(chance.between(50, 500))
    await stage.failOver()
    lose('some', from, 'recovered')
    return nothing
  }),
}

/** What can happen to a file of SQLite. */
export const ofAFile: FaultTable<OneFile> = {
  'file locked': database(async ({ stage, lasts }) => {
    await stage.lock(lasts)
    return nothing
  }),
  'file away': database(async ({ stage }) => {
    await stage.moveAway()
    return () => stage.moveBack()
  }),
  'data lost': emptied,
}

/** What can happen to PostgreSQL with a standby. */
export const ofSyncedPair: FaultTable<SyncedPair> = {
  'connections ended': database(async ({ stage }) => {
    await stage.endConnections()
    return nothing
  }),
  'server killed': database(async ({ stage }) => {
    await stage.primary.kill('SIGQUIT')
    return () => stage.restart()
  }),
  'standby cut off': database(async ({ stage }) => {
    await stage.cutOff()
    return () => stage.mend()
  }),
  'primary killed, standby promoted': standbyPromoted(async () => {}),
  'primary killed, lagging standby promoted': standbyPromoted(async ({ stage, chance }) => {
    await stage.cutOff()
    await setTimeout(chance.between(50, 500))
  }),
  'data lost': emptied,
}

/** Loses nothing that a primary acknowledged, if it waited for its standby. */
function standbyPromoted(leaveBehind: (scene: Scene<SyncedPair>) => Promise<unknown>): Fault<SyncedPair> {
  return database(async (scene) => {
    const { stage, lose } = scene
    const from = await stage.acknowledgedBefore()
    await leaveBehind(scene)
    await stage.failOver()
    if (!stage.waits) lose('some', from)
    return () => stage.pairAgain()
  })
}

const atMost = 12

/** Some slots of a master move to another one, those of authorizations in use and that of the registrations. */
async function migrateSlots({ stage, chance, prefix }: Scene<ThreeMasters>): Promise<End> {
  const masters = await stage.masters()
  const source = chance.any(masters)
  const target = chance.any(masters.filter((master) => master !== source))
  const from = new Redis(source.url)
  const to = new Redis(target.url)
  const slots = new Set<string>()
  const keys = await from.keys(`${prefix}*`)
  for (const key of keys.slice(0, atMost)) slots.add(String(await from.cluster('KEYSLOT', key)))
  const [sourceId, targetId] = await Promise.all([from, to].map((each) => each.call('CLUSTER', 'MYID')))
  for (const slot of slots) {
    await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(sourceId))
    await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(targetId))
    await moveKeys(from, slot, target)
  }
  return async () => {
    for (const slot of slots) {
      await moveKeys(from, slot, target)
      for (const each of [to, from]) await each.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(targetId))
    }
    for (const each of [from, to]) each.disconnect()
    await stage.isWhole()
  }
}

async function moveKeys(from: Redis, slot: string, target: RedisServer): Promise<void> {
  for (;;) {
    const keys: unknown = await from.call('CLUSTER', 'GETKEYSINSLOT', slot, '100')
    if (!Array.isArray(keys) || keys.length === 0) return
    await from.call('MIGRATE', '127.0.0.1', target.port, '', 0, 5000, 'KEYS', ...keys.map(String))
  }
}

/** A moment: whatever this master acknowledged before it, its replica has. */
async function acknowledgedBefore(master: RedisServer): Promise<number> {
  const client = new Redis(master.url, { maxRetriesPerRequest: 1 })
  client.on('error', () => {})
  let moment = 0
  try {
    await waitUntil('the replica has caught up', async () => {
      moment = performance.now()
      // WAIT counts from the last write on the same connection. In a cluster some of these keys are of this master.
      for (let number = 0; number < 100; number += 1)
        if (await client.set(`mark:${number}`, '', 'PX', 1000).catch(() => undefined)) break
      return (await client.wait(1, 1000)) >= 1
    })
    return moment
  } finally {
    client.disconnect()
  }
}
