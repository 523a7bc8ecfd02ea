import { setTimeout } from 'node:timers/promises'
import type { Loss } from '../history'
import type { OneServer } from '../stages/one-server'
import { acknowledgedBefore } from './acknowledged-before'
import type { Fault, FaultTable } from './fault'

const redis = (begin: Fault<OneServer>['begin']): Fault<OneServer> => ({ touches: 'Redis', begin })

/** A loss without a known end ends when every process serves again. */
const untilRecovered = Infinity

export const ofOneRedis: FaultTable<OneServer> = {
  'Redis read-only': redis(async ({ stage }) => {
    await stage.tell('REPLICAOF', '127.0.0.1', '1')
    return async () => void (await stage.tell('REPLICAOF', 'NO', 'ONE'))
  }),
  'Redis killed, its data kept': redis(async ({ stage }) => {
    await stage.server.kill('SIGKILL')
    return () => stage.restart('kept')
  }),
  'Redis killed, its data lost': redis(async ({ stage, losses }) => {
    const from = performance.now()
    await stage.server.kill('SIGKILL')
    return async () => {
      await stage.restart('lost')
      losses.push({ of: 'all', from, to: performance.now() })
    }
  }),
}

/** Registrations do not wait for replicas. */
const registrationsLost = (from: number, to: number): Loss => ({
  of: 'some',
  from,
  to,
  registrationsOnly: true,
})

export const ofAPair: FaultTable<OneServer> = {
  'switchover to the replica': redis(async ({ stage, losses }) => {
    const from = performance.now()
    await stage.switchOver()
    losses.push({ of: 'reads', from, to: untilRecovered })
    return () => stage.isFollowed()
  }),
  'master killed, replica promoted': redis(async ({ stage, losses }) => {
    const from = await acknowledgedBefore(stage.server)
    await stage.server.kill('SIGKILL')
    await stage.promote()
    losses.push(registrationsLost(from, performance.now()))
    return () => stage.rejoin('killed')
  }),
  'master killed, lagging replica promoted': redis(async ({ stage, losses, chance }) => {
    const from = await acknowledgedBefore(stage.server)
    // What comes after its link is cut never reaches a replica that cannot connect again.
    await stage.signalReplica('SIGSTOP')
    await stage.tell('CLIENT', 'KILL', 'TYPE', 'replica')
    await setTimeout(chance.between(50, 500))
    await stage.server.kill('SIGKILL')
    await stage.signalReplica('SIGCONT')
    await stage.promote()
    losses.push(registrationsLost(from, performance.now()))
    return () => stage.rejoin('killed')
  }),
  // A master that is cut off from its replica serves reads until it learns that it is no longer the master.
  'master cut off, replica promoted': redis(async ({ stage, losses }) => {
    const from = await acknowledgedBefore(stage.server)
    await stage.promote()
    losses.push({ of: 'reads', from, to: untilRecovered })
    return async () => {
      await stage.rejoin('alive')
      losses.push(registrationsLost(from, performance.now()))
    }
  }),
  'replica stopped': redis(async ({ stage }) => {
    await stage.signalReplica('SIGSTOP')
    return async () => {
      await stage.signalReplica('SIGCONT')
      await stage.isFollowed()
    }
  }),
}
