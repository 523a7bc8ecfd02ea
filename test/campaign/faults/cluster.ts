import { Redis } from 'ioredis'
import type { RedisServer } from '../../support/redis-server'
import { sendCommand } from '../stages/stage'
import type { ThreeMasters } from '../stages/three-masters'
import { acknowledgedBefore } from './acknowledged-before'
import type { End, Fault, FaultTable, Scene } from './fault'

const redis = (begin: Fault<ThreeMasters>['begin']): Fault<ThreeMasters> => ({ touches: 'Redis', begin })

export const ofACluster: FaultTable<ThreeMasters> = {
  'Redis stopped': redis(async ({ stage, chance }) => {
    const master = chance.any(await stage.masters())
    await master.kill('SIGSTOP')
    return async () => {
      await master.kill('SIGCONT')
      await stage.isWhole()
    }
  }),
  'slot migrates': redis(migrateSlots),
  'node switched over': redis(async ({ stage, chance, losses }) => {
    const master = chance.any(await stage.masters())
    const from = performance.now()
    await sendCommand(await stage.replicaOf(master), 'CLUSTER', 'FAILOVER')
    losses.push({ of: 'reads', from, to: Infinity })
    return () => stage.isWhole()
  }),
  'node killed, its replica promoted': redis(async ({ stage, chance, losses }) => {
    const master = chance.any(await stage.masters())
    const replica = await stage.replicaOf(master)
    const from = await acknowledgedBefore(master)
    await master.kill('SIGKILL')
    await sendCommand(replica, 'CLUSTER', 'FAILOVER', 'TAKEOVER')
    losses.push({ of: 'some', from, to: performance.now(), registrationsOnly: stage.waits })
    return async () => {
      await stage.restart(master)
      await stage.isWhole()
    }
  }),
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
