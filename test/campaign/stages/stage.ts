import { Redis } from 'ioredis'
import type { FaultyNetwork } from '../../support/faulty-network'
import type { RedisServer } from '../../support/redis-server'
import type { StorePlan } from '../../support/store-plan'

/** A database of some kind, and for each of two processes a way to it that can fail alone. */
export interface Stage {
  /** How each process reaches it in a run. @param waits whether its writes wait for replicas. */
  plansFor(
    prefix: string,
    waits: boolean,
  ): readonly [StorePlan, StorePlan] | Promise<readonly [StorePlan, StorePlan]>
  /** What lies between each process and the database: one network for each server, or none. */
  readonly ways: readonly [readonly FaultyNetwork[], readonly FaultyNetwork[]]
  /** Resolves when each server that takes writes has the replicas that it should have. */
  isWhole(): Promise<void>
  /** Empties it, for the next run too. */
  empty(): Promise<void>
  stop(): Promise<void>
}

/** A Redis of some kind. */
export interface RedisStage extends Stage {
  /** The servers that take writes. */
  masters(): Promise<readonly RedisServer[]>
}

/** Whether its server takes no write that no replica has: how many replicas, and for how many seconds it waits. */
export const replicaWait = { replicas: 1, within: 0.3 }

/** One command on a connection of its own. */
export async function sendCommand(
  { url }: RedisServer,
  command: string,
  ...words: string[]
): Promise<unknown> {
  const client = new Redis(url, { maxRetriesPerRequest: 1 })
  client.on('error', () => {})
  try {
    return await client.call(command, ...words)
  } finally {
    client.disconnect()
  }
}
