import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { memoryStore, redisStore, type AuthorizationServerOptions } from '../../../lib/index'
import { withRedis } from '../with-redis'
import { application, type Application, type Hosting } from './application'
import { Clock } from './clock'
import { ObservedStore } from './observed-store'

/** The canonical host application on a store and in a time of its own. */
export interface Stage extends Application {
  readonly clock: Clock
  readonly store: ObservedStore
}

/** Sets the stage for one test. */
export type SetStage = (options?: Partial<AuthorizationServerOptions>, hosting?: Hosting) => Stage

type OpenStore = (clock: () => number) => ConstructorParameters<typeof ObservedStore>[0]

declare const storesOfRun: readonly (keyof typeof stores)[]

/**
 * Tells stories on each store of the run: Redis alone, unless the Jest project or the extent of the run says otherwise. On
 * Redis each test has keys of its own.
 */
export function describeOnStores(title: string, stories: (stage: SetStage) => void): void {
  describe.each(storesOfRun)(`${title} (%s)`, (name) => stories(stageOn(stores[name]())))
}

/** Sets stages on stores that are opened so. */
export function stageOn(open: OpenStore): SetStage {
  return (options, hosting) => {
    const clock = new Clock()
    const store = new ObservedStore(open(clock.read))
    const always = { store, clock: clock.read }
    return { ...application({ ...always, ...options }, hosting), clock, store }
  }
}

function inMemory(): OpenStore {
  return (clock) => memoryStore({ clock })
}

/** Opens stores on one Redis, which runs while the tests of this file or group do. */
export function onRedis(): OpenStore {
  let client: Redis
  withRedis((started) => {
    client = started.client
  })
  return (clock) => redisStore({ client, prefix: `flow:${randomUUID()}:`, clock })
}

const stores = { memory: inMemory, Redis: onRedis }
