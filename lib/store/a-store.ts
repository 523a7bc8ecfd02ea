import { aCall, aTextThat, someCalls } from '../primitives/fields'
import { type Field, kind, needed, optional, shape } from '../primitives/schema'
import { isRecord } from '../primitives/values'
import type { Store } from './store'

const verbs = ['read', 'write', 'remove', 'add', 'list']

export const isStore = (value: unknown): value is Store =>
  isRecord(value) && verbs.every((verb) => typeof value[verb] === 'function')

const withVerbs = kind(
  isStore,
  'must have the functions read, write, remove, add and list, as redisStore({ url }) and memoryStore() have.',
)

const whole = shape<Store>(
  {
    read: aCall(),
    write: aCall(),
    remove: aCall(),
    add: aCall(),
    list: aCall(),
    ...someCalls('peek', 'confirmAbsent', 'check', 'close', 'connectionFailure'),
    place: optional(
      aTextThat('must be a text that names the store in messages, such as Redis at localhost:6379.'),
    ),
  },
  'ignored',
)

const reject = () => Promise.reject(new Error('There is no store.'))

export const noStore: Store = { read: reject, write: reject, remove: reject, add: reject, list: reject }

export const aStore: Field<Store> = needed(noStore, (given, at, name) =>
  withVerbs(given, at, name) === undefined ? undefined : whole(given, at, name),
)
