import { bareError, OAuthError } from '../../protocol/oauth-error'
import { refused } from '../../protocol/refusals'
import { type Eventual, following, SingleFlight } from '../../primitives/concurrency'
import { findKey, isWithin, KeySet, type KeySource } from '../key-source'
import type { OpenedKey } from './key-record'
import { type KeyRing, publishedOf, signingKeyAt, signWith } from './key-ring'
import type { SharedKeys } from './shared-keys'
import type { SigningAlgorithm } from './signing-algorithm'

// Seconds until a process reads the store again, before it publishes, signs or verifies.
const freshFor = 10
// Seconds for which a process goes on with what it has while the store fails.
const heldFor = 60

interface HeldKeys {
  readonly opened: readonly OpenedKey[]
  readonly keySet: KeySet
  /** Seconds since the epoch. */
  readonly at: number
}

/** @param clock seconds since the epoch. */
export function sharedRing(
  keys: SharedKeys,
  algorithms: readonly SigningAlgorithm[],
  clock: () => number,
): KeyRing {
  let last: HeldKeys | undefined
  const flights = new SingleFlight<HeldKeys>()

  const refresh = (now: number) =>
    flights.share('', async () => {
      const opened = await keys.refresh(now)
      const keySet = KeySet.following(last?.keySet, publishedOf(opened), now, freshFor)
      return (last = { opened, keySet, at: now })
    })

  const heldWithin = (seconds: number, now: number) =>
    last !== undefined && isWithin(seconds, last.at, now) ? last : undefined

  // Callers during one read share the next: they may need what came meanwhile.
  let next: Promise<HeldKeys> | undefined
  const refreshAnew = (now: number): Promise<HeldKeys> => {
    if (!flights.has('')) return refresh(now)
    return (next ??= refresh(now)
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return refresh(now)
      }))
  }

  const orHeld = (reading: Promise<HeldKeys>, now: number): Promise<HeldKeys> =>
    reading.catch((error: unknown) => heldWithin(heldFor, now) ?? refuse(error))
  const current = (): Eventual<HeldKeys> => {
    const now = clock()
    return heldWithin(freshFor, now) ?? orHeld(refresh(now), now)
  }

  // By the clock of the server alone: a caller may look at a JWT as of its `iat`, which anyone can write.
  const source: KeySource = {
    find(_now, header) {
      const now = clock()
      const trusted = heldWithin(freshFor, now)?.keySet
      // A JWT with an unknown key causes another look.
      const read = async () => (await refreshAnew(now).catch(refuse)).keySet
      return findKey({ trusted, read, standIn: () => heldWithin(heldFor, clock())?.keySet }, now, header)
    },
  }
  return {
    algorithms,
    source,
    outlive: (seconds) => keys.outlive(seconds),
    published: async () => publishedOf((await orHeld(refreshAnew(clock()), clock())).opened),
    sign: signWith((name) => following(current(), ({ opened, at }) => signingKeyAt(opened, name, at))),
  }
}

/** `temporarily_unavailable`: refuses no JWT. */
function refuse(error: unknown): never {
  if (error instanceof OAuthError) throw error
  throw refused('signing_keys_unavailable', {}, { cause: bareError(error) })
}
