import type { RequestsInFlight } from './express/requests-in-flight'
import { createId, secureRandom } from './protocol/credential'
import type { AuthorizationStore } from './stores/authorization-store'
import { withDeadline } from './stores/deadline'
import { holdStore } from './wire-store'

/** How a process comes up and goes down. */
export interface Lifecycle {
  /**
   * Closes for good. New requests are answered with `temporarily_unavailable` and `Connection: close`; those in flight
   * finish, for `closeDeadline` seconds at most. Then the store is closed, if it has a function `close`, unless another
   * server or guard of this process works with it and is not closed yet. A client that the host gave to `redisStore()`
   * stays open. Any number of calls is one closing.
   *
   * @throws whatever the closing of a store of the host's own throws.
   */
  close(): Promise<void>
  /**
   * Whether requests are served: the store answers within `storeDeadline`, and `close()` has not been called. It costs
   * one read of the store and never rejects. Maintenance is no obstacle: it has answers of its own.
   */
  ready(): Promise<boolean>
}

/** What a lifecycle by a store is wired to. */
interface Living {
  readonly issuer: string
  readonly store: AuthorizationStore
  readonly storeDeadline: number
  readonly closeDeadline: number
  readonly requests: RequestsInFlight
}

export function lifecycleOf({ issuer, store, storeDeadline, closeDeadline, requests }: Living): Lifecycle {
  const hurried = withDeadline(store, storeDeadline)
  const answers = () => hurried.find(createId(secureRandom))
  return lifecycle({ requests, closeDeadline, answers, release: holdStore(store, issuer) })
}

/** What any lifecycle is wired to. */
interface LifecycleParts {
  readonly requests: RequestsInFlight
  readonly closeDeadline: number
  /** Resolves when that answers without which no request can be served. */
  readonly answers: () => Promise<unknown>
  /** Lets go of it, once no request is left. */
  readonly release: () => Promise<void>
}

export function lifecycle({ requests, closeDeadline, answers, release }: LifecycleParts): Lifecycle {
  let closed: Promise<void> | undefined
  return {
    close: () => (closed ??= requests.close(closeDeadline).then(release)),
    ready: async () => {
      if (requests.isClosed) return false
      const answered = await answers().then(
        () => true,
        () => false,
      )
      return answered && !requests.isClosed
    },
  }
}
