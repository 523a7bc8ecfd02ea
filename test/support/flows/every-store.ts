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

// A machine under load is not a store in trouble.
const patience = 10

type OpenStore = (clock: () => number) => ConstructorParameters<typeof ObservedStore>[0]

/** Tells the same stories on the memory store and on a real Redis, where each test has keys of its own. */
export function describeOnEveryStore(title: string, stories: (stage: SetStage) => void): void {
  describe.each([
    ['memory', inMemory],
    ['Redis', onRedis],
  ] as const)(`${title} (%s)`, (_, prepare) => {
    const open = prepare()
    stories((options, hosting) => {
      const clock = new Clock()
      const store = new ObservedStore(open(clock.read))
      const always = { store, clock: clock.read, storeDeadline: patience }
      return { ...application({ ...always, ...options }, hosting), clock, store }
    })
  })
}

function inMemory(): OpenStore {
  return (clock) => memoryStore({ clock })
}

function onRedis(): OpenStore {
  let client: Redis
  withRedis((started) => {
    client = started.client
  })
  return (clock) => redisStore({ client, prefix: `flow:${randomUUID()}:`, clock })
}
