import { secondsOf } from '../primitives/steady-clock'
import { type AuthorizationIndex, indexOwner } from './authorization-index'
import type { Lifetimes } from './lifetimes'

export interface IndexedSince {
  /** Whether every live authorization is in the index: nothing older lives without a refresh. */
  readonly isComplete: () => Promise<boolean>
  /** Notes the time at the start, or at a later check of readiness. */
  readonly readiness: { readonly name: string; readonly ready: () => Promise<unknown> }
}

// The note stands in the index: no owner has an empty subject.
const noteId = 'since'.padEnd(22, '-')
const tenYears = 10 * 365 * 24 * 3600

/** Seconds for which processes without the option may run beside the first one with it. */
const rollout = 3600

/** Seconds since the epoch; undefined if no server has used the index. */
export async function notedSince(
  index: AuthorizationIndex,
  issuerDigest: string,
): Promise<number | undefined> {
  const [entry] = await index.list(ownerOfNote(issuerDigest))
  return entry && Number(entry.clientId)
}

const ownerOfNote = (issuerDigest: string) => indexOwner(issuerDigest, '')

interface IndexingSettings {
  readonly lifetimes: Lifetimes
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** The host says that no authorization is older than the index. */
  readonly listsAll: boolean
}

export function indexedSince(
  index: AuthorizationIndex,
  issuerDigest: string,
  { lifetimes, clock, listsAll }: IndexingSettings,
): IndexedSince {
  const now = secondsOf(clock)
  let known: number | undefined
  const beginning = async () => {
    const noted = await notedSince(index, issuerDigest)
    if (noted !== undefined) return noted
    const begun = now()
    const note = { authorizationId: noteId, clientId: String(begun) }
    await index.add(ownerOfNote(issuerDigest), note, { seconds: tenYears, age: 0 })
    return begun
  }
  const since = async () => (known ??= await beginning())
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
