import { secondsOf } from '../primitives/clock'
import { changeRecord } from '../store/change'
import type { Store } from '../store/store'
import type { Lifetimes } from './lifetimes'

export interface IndexedSince {
  /** Whether owners list every live authorization: nothing older lives without a refresh. */
  readonly isComplete: () => Promise<boolean>
  /** Notes the time at the start, or at a later check of readiness. */
  readonly readiness: { readonly name: string; readonly ready: () => Promise<unknown> }
}

/** Seconds for which processes without the option may run beside the first one with it. */
const rollout = 3600

const keyOf = (issuerDigest: string) => `since:${issuerDigest}`

/** Whether a server with the option `authorizations` has used the store. */
export const isNoted = async (store: Store, issuerDigest: string): Promise<boolean> =>
  (await store.read(keyOf(issuerDigest))) !== undefined

interface IndexingSettings {
  readonly lifetimes: Lifetimes
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** The host says that no authorization is older than the option. */
  readonly listsAll: boolean
}

export function indexedSince(
  store: Store,
  issuerDigest: string,
  { lifetimes, clock, listsAll }: IndexingSettings,
): IndexedSince {
  const now = secondsOf(clock)
  let known: number | undefined
  const since = async () =>
    (known ??= await changeRecord(store, keyOf(issuerDigest), (value) => {
      const outcome = value === undefined ? now() : Number(value)
      return { outcome, write: value === undefined ? { value: String(outcome) } : undefined }
    }))
  const { refreshToken, accessToken, authorizationCode } = lifetimes
  const longest = Math.max(refreshToken, accessToken) + authorizationCode
  return {
    isComplete: async () => listsAll || now() - (await since()) > longest + rollout,
    readiness: {
      name: 'authorizations',
      ready: async () => {
        await since()
      },
    },
  }
}
