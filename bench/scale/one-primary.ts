import type { Redis } from 'ioredis'
import { serverCore, startTarget } from '../child'
import { startRedis } from '../redis'
import { authorizationsCarried, operationsCarried, type Measured } from './carried'
import type { Extent } from './extent'
import { press } from './pressure'
import { samplesOf } from './samples'
import { storeCommands, type StoreCommand } from './store-commands'
import type { Table } from './table'

const packets = [
  { title: 'one command a packet', connections: 64, batch: 1 },
  { title: '32 commands a packet', connections: 16, batch: 32 },
] as const

/** Authorizations that are changed and read. */
const spread = 100_000

/** What one Redis does a second with the one core that it uses, and how much of the suite's work that carries. */
export async function onePrimary(extent: Extent): Promise<readonly Table[]> {
  const redis = await startRedis(serverCore)
  const target = await startTarget({ program: 'ours' }, redis.url)
  const { 'code flow': sample } = await samplesOf(target, redis.client)
  await target.stop()
  const authorization = { ...sample, id: 'bench-authorization-00' }
  const revisions = ['first-revision-of-22-c', 'other-revision-of-22-c'] as const
  const commands = await storeCommands(redis.client, { authorization, revisions })
  const measured: Measured[] = []
  for (const packet of packets) {
    await pressed(redis.client, commands, authorization.id, packet, extent.warmUp)
    const costs = await pressed(redis.client, commands, authorization.id, packet, extent.command)
    measured.push({ title: packet.title, costs })
  }
  redis.stop()
  return [operationsCarried(measured), authorizationsCarried(measured)]
}

async function pressed(
  redis: Redis,
  commands: readonly StoreCommand[],
  id: string,
  { connections, batch }: (typeof packets)[number],
  milliseconds: number,
): Promise<Measured['costs']> {
  await redis.flushall()
  const of = async (name: StoreCommand['name'], over: number) => {
    const command = commands.find((one) => one.name === name)
    if (command === undefined) throw new Error(`There is no ${name}.`)
    return press(redis, command, { id, connections, batch, spread: over, milliseconds })
  }
  const create = await of('create', 0)
  // Whole packets, so that none reaches beyond what the first command left.
  const packetsThere = Math.floor(Math.min(spread, await redis.dbsize()) / batch)
  const there = packetsThere * batch
  return { create, change: await of('change', there), read: await of('read', there) }
}
