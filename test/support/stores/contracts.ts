import type { Redis } from 'ioredis'
import { redisStore, type RedisStoreOptions } from '../../../lib/index'
import * as kit from '../../../lib/testing/index'
import { countersOf } from './records'
import { authorizationsUnderTest, letPass, redisUnderTest, uniquePrefix } from './redis-under-test'

/** Runs all contracts of the kit on what a Redis keeps. */
export function redisContracts(options: () => RedisStoreOptions, masters: () => readonly Redis[]): void {
  const opened = () => {
    const prefix = uniquePrefix()
    const store = redisStore({ ...options(), prefix })
    const advance = async (seconds: number) => {
      for (const master of masters()) await letPass(master, prefix, seconds)
    }
    const { index, consents, clients, dynamicClients } = store
    const kept = { index, consents, counters: countersOf(store), clients, dynamicClients }
    return { ...kept, advance, close: () => store.close() }
  }
  const { authorizationIndexContract, authorizationStoreContract, clientRegistryContract } = kit
  const { consentStoreContract, countersContract, dynamicClientStoreContract, storeContract } = kit
  storeContract('records and counts', () => redisUnderTest(options(), masters))
  authorizationStoreContract('authorizations', () => authorizationsUnderTest(options(), masters))
  authorizationIndexContract('the index', opened)
  // Their rules wait in real time.
  consentStoreContract('consents', () => {
    const { consents, close } = opened()
    return { consents, close }
  })
  countersContract('counters', opened)
  clientRegistryContract('clients', opened)
  dynamicClientStoreContract('clients that register themselves', () => {
    const { dynamicClients: clients, advance, close } = opened()
    return { clients, advance, close }
  })
}
