import { setTimeout } from 'node:timers/promises'
import type { Loss } from '../history'
import { sendCommand } from '../single-stage'
import { acknowledgedBefore } from './acknowledged-before'
import type { OneServer } from './one-server'
import { between, type CampaignFault, type FaultTable } from './campaign-fault'

type Fault = CampaignFault<OneServer>

const redis = (begin: Fault['begin']): Fault => ({ touches: 'Redis', begin })

/** A loss without a known end ends when every process serves again. */
const untilRecovered = Infinity

export const ofOneRedis: FaultTable<OneServer> = {
  'Redis read-only': redis(async ({ stage: { redis: server } }) => {
    await server.sendCommand('REPLICAOF', '127.0.0.1', '1')
    return async () => void (await server.sendCommand('REPLICAOF', 'NO', 'ONE'))
  }),
  'Redis killed, its data kept': redis(async ({ stage: { redis: server } }) => {
    await server.signal('SIGKILL')
    return () => server.restart('kept')
  }),
  'Redis killed, its data lost': redis(async ({ stage: { redis: server }, losses }) => {
    const from = performance.now()
    await server.signal('SIGKILL')
    return async () => {
      await server.restart('lost')
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
  'switchover to the replica': redis(async ({ stage: { redis: server }, losses }) => {
    const from = performance.now()
    await server.switchOver()
    losses.push({ of: 'reads', from, to: untilRecovered })
    return () => server.isFollowed()
  }),
  'master killed, replica promoted': redis(async ({ stage: { redis: server }, losses }) => {
    const from = await acknowledgedBefore(server.server)
    await server.signal('SIGKILL')
    await server.promote()
    losses.push(registrationsLost(from, performance.now()))
    return () => server.rejoin('killed')
  }),
  'master killed, lagging replica promoted': redis(async ({ stage: { redis: server }, losses, random }) => {
    const from = await acknowledgedBefore(server.server)
    // What comes after its link is cut never reaches a replica that cannot connect again.
    await server.follower?.kill('SIGSTOP')
    await server.sendCommand('CLIENT', 'KILL', 'TYPE', 'replica')
    await setTimeout(between(random, 50, 500))
    await server.signal('SIGKILL')
    await server.follower?.kill('SIGCONT')
    await server.promote()
    losses.push(registrationsLost(from, performance.now()))
    return () => server.rejoin('killed')
  }),
  // A master that is cut off from its replica serves reads until it learns that it is no longer the master.
  'master cut off, replica promoted': redis(async ({ stage: { redis: server }, losses }) => {
    const from = await acknowledgedBefore(server.server)
    await server.promote()
    losses.push({ of: 'reads', from, to: untilRecovered })
    return async () => {
      await server.rejoin('alive')
      losses.push(registrationsLost(from, performance.now()))
    }
  }),
  'replica stopped': redis(async ({ stage: { redis: server } }) => {
    await server.follower?.kill('SIGSTOP')
    return async () => {
      await server.follower?.kill('SIGCONT')
      await server.isFollowed()
      await sendCommand(server.server, 'PING')
    }
  }),
}
