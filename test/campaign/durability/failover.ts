import { Redis } from 'ioredis'
import { redisStore, type ReplicaWait } from '../../../lib/index'
import { application } from '../../support/flows/application'
import type { Flow } from '../../support/flows/flow'
import { startRedisSentinel } from '../../support/redis-sentinel'
import { startReplicaOf } from '../../support/redis-replicated'
import { uniquePrefix } from '../../support/stores/redis-under-test'
import { waitUntil } from '../../support/wait-until'

/** A host application behind Sentinel, whose replica can be left behind and made master. */
export interface Failover {
  readonly flow: Flow
  /** These parties at another process. */
  readonly elsewhere: Flow
  /** Until everything that was written is on the replica. */
  replicated(): Promise<void>
  /** The replica stops reading, and so much is on its way to it that nothing more reaches even its socket. */
  leaveReplicaBehind(): Promise<void>
  /** The master dies, the replica wakes and is made master. */
  failOver(): Promise<void>
  /** The new master gets a replica. */
  addReplica(): Promise<void>
  stop(): Promise<void>
}

export async function startFailover(waitForReplicas: ReplicaWait | undefined): Promise<Failover> {
  const sentinel = await startRedisSentinel()
  const stops: (() => unknown)[] = [() => sentinel.stop()]
  const connect = () => {
    const client = new Redis({
      sentinels: [sentinel.sentinel],
      name: sentinel.masterName,
      maxRetriesPerRequest: 1,
      commandTimeout: 5000,
    })
    client.on('error', () => {})
    stops.unshift(() => client.disconnect())
    return client
  }
  const [client, other, own] = [connect(), connect(), connect()]
  const options = { prefix: uniquePrefix(), ...(waitForReplicas && { waitForReplicas }) }
  const flowOver = (redis: Redis) =>
    application({ store: redisStore({ client: redis, ...options }), storeDeadline: 5 }).flow
  const replicated = async () => {
    await own.incr('mark')
    await waitUntil('the replica has it all', async () => (await own.wait(1, 1000)) === 1)
  }
  await replicated()
  return {
    flow: flowOver(client),
    elsewhere: flowOver(other),
    replicated,
    leaveReplicaBehind: async () => {
      await sentinel.replica.kill('SIGSTOP')
      // More than sockets hold: what comes after it waits in the master's memory, and dies with it.
      await own.set('filler', 'x'.repeat(48 * 1024 * 1024))
    },
    failOver: async () => {
      await sentinel.master.kill('SIGKILL')
      await sentinel.replica.kill('SIGCONT')
      for (const each of [own, client, other])
        await waitUntil(
          'the replica is master',
          () =>
            each.info().then(
              (answer) =>
                answer.includes(`tcp_port:${sentinel.replica.port}`) && answer.includes('role:master'),
              () => false,
            ),
          // A sentinel that finds the replica still silent tries again 4 s later.
          30,
        )
    },
    addReplica: async () => {
      const replica = await startReplicaOf(sentinel.replica.port)
      stops.unshift(() => replica.stop())
    },
    stop: async () => {
      for (const stop of stops) await stop()
    },
  }
}
