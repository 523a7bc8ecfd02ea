import type { RequestsInFlight } from '../http/requests-in-flight'
import { isRecord } from '../protocol/configuration'
import { createId, secureRandom } from '../protocol/credential'
import type { AuthorizationStore, StoreWarning } from '../stores/authorization-store'
import { describeStore, withDeadline } from '../stores/deadline'
import { warnOnce } from '../audit/warning'

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

interface Holding {
  holders: number
  /** Of the first holder. */
  readonly issuer: string
  readonly stopChecking: () => void
}

const holdings = new WeakMap<AuthorizationStore, Holding>()

/**
 * Holds a store for a server or a guard. The first one has it look at its surroundings, if it can; the last one to let go
 * closes it, if it can be closed. Returns what lets go.
 *
 * @param issuer of the server or guard: a store that holds the records of two issuers is worth a warning.
 */
export function holdStore(store: AuthorizationStore, issuer: string): () => Promise<void> {
  const holding = holdings.get(store) ?? {
    holders: 0,
    issuer,
    stopChecking: checkSurroundings(store, issuer),
  }
  holdings.set(store, holding)
  if (holding.issuer !== issuer)
    warnOnce(
      'EAS_SHARED_STORE',
      `The issuers ${holding.issuer} and ${issuer} share one store. Each knows its own tokens alone: give each issuer a store, or a prefix, of its own.`,
    )
  holding.holders += 1
  return async () => {
    holding.holders -= 1
    if (holding.holders > 0) return
    holdings.delete(store)
    holding.stopChecking()
    if (canClose(store)) await store.close()
  }
}

// A client of Redis may wait much longer before it gives up.
const patience = 5000
const soonest = 1000
const latest = 60_000

/** Warns of what the store finds, once, as soon as it can look; delays nobody and holds no process open. */
function checkSurroundings(store: AuthorizationStore, issuer: string): () => void {
  if (!canCheck(store)) return () => {}
  const state: { stopped: boolean; timer?: NodeJS.Timeout } = { stopped: false }
  const blame = (why: string) => {
    if (!state.stopped) warnOfUnreachable(store, why)
  }
  const look = async (pause: number): Promise<void> => {
    const late = setTimeout(() => blame(`it did not answer within ${patience / 1000} s`), patience).unref()
    try {
      const cautions = await store.check(issuer)
      if (!state.stopped) for (const { code, message } of cautions) warnOnce(code, message)
    } catch (error) {
      // A client that refuses commands until it is connected may be about to be.
      if (pause > soonest) blame(error instanceof Error ? error.message : 'it failed without an error')
      if (!state.stopped)
        state.timer = setTimeout(() => void look(Math.min(pause * 2, latest)), pause).unref()
    } finally {
      clearTimeout(late)
    }
  }
  void look(soonest)
  return () => {
    state.stopped = true
    clearTimeout(state.timer)
  }
}

function warnOfUnreachable(store: AuthorizationStore, why: string): void {
  const place = describeStore(store) ?? 'The store'
  warnOnce(
    'EAS_STORE_UNREACHABLE',
    `${place} cannot be used (${why}). Until it can, requests are answered with temporarily_unavailable; then all goes on by itself.`,
    `EAS_STORE_UNREACHABLE ${place}`,
  )
}

type Checking = AuthorizationStore & { check(issuer: string): Promise<readonly StoreWarning[]> }
type Closable = AuthorizationStore & { close(): unknown }

const canCheck = (store: AuthorizationStore): store is Checking => hasFunction(store, 'check')
const canClose = (store: AuthorizationStore): store is Closable => hasFunction(store, 'close')
const hasFunction = (value: unknown, name: string) => isRecord(value) && typeof value[name] === 'function'
