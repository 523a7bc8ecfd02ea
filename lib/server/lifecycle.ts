import type { RequestsInFlight } from '../http/requests-in-flight'
import type { Readiness } from '../config/open-plug-ins'
import { OAuthError } from '../protocol/oauth-error'
import { adviceForShared } from '../protocol/uri'
import { createId, secureRandom } from '../protocol/credential'
import { withinDeadline } from '../store/deadline'
import type { Store } from '../store/store'
import { warnOfStore, warnOnce } from '../audit/warning'

export interface Lifecycle {
  /**
   * Closes for good. New requests get `temporarily_unavailable` with `Connection: close`; those in flight may finish
   * within `closeDeadline` seconds. The last server or guard of this process on the store then closes it, but not a
   * Redis client that the host passed. Further calls return the same promise.
   *
   * @throws the error of `close` of the store.
   */
  close(): Promise<void>
  /**
   * Whether the store answers within `storeDeadline`, and `close()` was not called, by one read. A guard without a
   * store fetches what it lacks, such as keys. Never rejects. Stays true during maintenance.
   */
  ready(): Promise<boolean>
}

interface LifecycleOptions {
  readonly issuer: string
  readonly store: Store | undefined
  readonly storeDeadline: number
  readonly closeDeadline: number
  readonly requests: RequestsInFlight
  readonly readiness?: readonly Readiness[]
  readonly source?: (() => Promise<unknown>) | undefined
}

export function lifecycleOf(options: LifecycleOptions): Lifecycle {
  const { issuer, store, requests, readiness = [], source } = options
  for (const each of readiness) void warnUnlessReady(each)
  const release = store && holdStore(store, issuer)
  const read = (from: Store) =>
    withinDeadline(() => from.read(`authorization:${createId(secureRandom)}`), options.storeDeadline, from)
  const answers = async () =>
    Promise.all([store && read(store), source?.(), ...readiness.map(({ ready }) => ready())])
  let closed: Promise<void> | undefined
  return {
    close: () => (closed ??= requests.close(options.closeDeadline).then(release)),
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

async function warnUnlessReady({ name, ready }: Readiness): Promise<void> {
  try {
    await ready()
  } catch (error) {
    // The store warns of itself.
    if (error instanceof OAuthError && error.reason === 'store_unavailable') return
    const cause = error instanceof OAuthError ? (error.cause ?? error) : error
    warnOnce(
      'EAS_PLUG_IN_NOT_READY',
      `The plug-in ${name} is not ready. ${cause instanceof Error ? cause.message : 'It failed without an error.'}`,
      `EAS_PLUG_IN_NOT_READY ${name}`,
    )
  }
}

interface StoreUse {
  holders: number
  readonly issuer: string
  readonly stopChecking: () => void
}

const holdings = new WeakMap<Store, StoreUse>()

/** The first holder lets the store check its surroundings; the last one closes it. */
function holdStore(store: Store, issuer: string): () => Promise<void> {
  const holding = holdings.get(store) ?? {
    holders: 0,
    issuer,
    stopChecking: checkSurroundings(store, issuer),
  }
  holdings.set(store, holding)
  if (holding.issuer !== issuer)
    warnOnce(
      'EAS_SHARED_STORE',
      `The issuers ${holding.issuer} and ${issuer} share one store. ${adviceForShared(holding.issuer, issuer)}`,
    )
  holding.holders += 1
  return async () => {
    holding.holders -= 1
    if (holding.holders > 0) return
    holdings.delete(store)
    holding.stopChecking()
    await store.close?.()
  }
}

// Milliseconds. A Redis client may wait much longer.
const patience = 5000
// Milliseconds; doubles after each failure.
const soonest = 1000
const latest = 60_000

/** Warns of each problem once, and repeats until it succeeds. Delays nothing. */
function checkSurroundings(store: Store, issuer: string): () => void {
  const check = store.check?.bind(store)
  if (check === undefined) return () => {}
  const state: { stopped: boolean; timer?: NodeJS.Timeout } = { stopped: false }
  const blame = (why: string) => {
    if (!state.stopped) warnOfUnreachable(store, why)
  }
  const look = async (pause: number): Promise<void> => {
    const late = setTimeout(() => blame(`it did not answer within ${patience / 1000} s`), patience).unref()
    try {
      const warnings = await check(issuer)
      if (!state.stopped) for (const warning of warnings) warnOfStore(warning)
    } catch (error) {
      // Not of the first failure: a client may still connect.
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

function warnOfUnreachable(store: Store, why: string): void {
  const { place = 'The store' } = store
  warnOnce(
    'EAS_STORE_UNREACHABLE',
    `${place} cannot be used (${why.replace(/\.$/, '')}). Requests get temporarily_unavailable until the store works again. No restart is necessary.`,
    `EAS_STORE_UNREACHABLE ${place}`,
  )
}
