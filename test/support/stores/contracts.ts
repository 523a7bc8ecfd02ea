import type { Redis } from 'ioredis'
import { redisStore, type RedisStoreOptions } from '../../../lib/index'
import * as kit from '../../../lib/testing/index'
import { letPass, redisUnderTest, uniquePrefix } from './redis-under-test'

/** Runs all contracts of the kit on what a Redis keeps. */
export function redisContracts(options: () => RedisStoreOptions, masters: () => readonly Redis[]): void {
  const opened = () => {
    const prefix = uniquePrefix()
    const store = redisStore({ ...options(), prefix })
    const advance = async (seconds: number) => {
      for (const master of masters()) await letPass(master, prefix, seconds)
    }
    return { store, advance, close: () => store.close() }
  }
  const { authorizationIndexContract, authorizationStoreContract, clientRegistryContract } = kit
  const { consentStoreContract, countersContract, dynamicClientStoreContract, keyStoreContract } = kit
  authorizationStoreContract('authorizations', () => redisUnderTest(options(), masters))
  authorizationIndexContract('the index', () => {
    const { store, advance, close } = opened()
    return { index: store.index, advance, close }
  })
  consentStoreContract('consents', () => {
    const { store, close } = opened()
    return { consents: store.consents, close }
  })
  countersContract('counters', () => {
    const { store, advance, close } = opened()
    return { counters: store.counters, advance, close }
  })
  clientRegistryContract('clients', () => {
    const { store, close } = opened()
    return { clients: store.clients, close }
  })
  dynamicClientStoreContract('clients that register themselves', () => {
    const { store, advance, close } = opened()
    return { clients: store.dynamicClients, advance, close }
  })
  keyStoreContract('signing keys', () => {
    const { store, advance, close } = opened()
    return { keys: store.keys, advance, close }
  })
}
