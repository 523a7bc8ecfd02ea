import { secondsOf } from '../../primitives/clock'
import { aClock, aTextThat } from '../../primitives/fields'
import { type Fields, kind, needed, readOptions } from '../../primitives/schema'
import { ConfigurationError } from '../../primitives/configuration-error'
import { isStore, noStore, type Store } from '../../store/store'
import { type ListedKey, SharedKeys } from './shared-keys'
import type { SigningAlgorithm } from './signing-algorithm'
import { sharedSecrets } from './signing-keys'

/** Options of {@link manageSigningKeys}. */
export interface KeyManagementOptions {
  /** The option `issuer` of the server, letter by letter. */
  readonly issuer: string
  /** The store of the server, such as `redisStore({ url })` with the same prefix. */
  readonly store: Store
  /** The option `secrets` of `signingKeys()`. */
  readonly secrets: readonly string[]
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

export type { ListedKey }

export interface KeyManagement {
  list(): Promise<readonly ListedKey[]>
  /**
   * Makes a successor for each key that signs, unless one waits. It signs in 15 minutes, when caches
   * elsewhere have it, or later by the option `publishBefore` of the server.
   */
  rotate(): Promise<readonly ListedKey[]>
  /**
   * Retires a key at once, such as one that has leaked. Every process stops publishing it, signing and
   * verifying with it within 10 seconds, or within a minute while the store fails. Its tokens are then
   * invalid here. Caches elsewhere drop it after 10 minutes by the rules. If it signed, its successor signs
   * at once.
   *
   * @throws ConfigurationError if no such key is there.
   */
  retire(kid: string): Promise<readonly ListedKey[]>
}

/**
 * Manages the keys of `signingKeys({ secrets })` outside the server, such as in a script.
 *
 * @throws ConfigurationError that lists every mistake in the options.
 */
export function manageSigningKeys(options: KeyManagementOptions): KeyManagement {
  const { issuer, store, secrets, clock } = readOptions('manageSigningKeys()', fields, options)
  const now = secondsOf(clock)
  const sharedBy = (algorithms: readonly SigningAlgorithm[]) =>
    new SharedKeys(store, {
      issuer,
      algorithms,
      rotateAfter: Infinity,
      publishBefore: undefined,
      secrets,
    })

  const list = () => sharedBy([]).list(now())
  // Only the server decides which algorithms are in use.
  const shared = async () => sharedBy([...new Set((await list()).map(({ algorithm }) => algorithm))])

  return {
    list,
    async rotate() {
      await (await shared()).rotate(now())
      return list()
    },
    async retire(kid) {
      if (!(await (await shared()).retire(kid, now())))
        throw new ConfigurationError('The key cannot be retired:', [
          { path: 'kid', message: 'names no key of this issuer in the store.' },
        ])
      return list()
    },
  }
}

const fields = {
  issuer: needed('', aTextThat('must be the URL of the server.')),
  store: needed<Store>(
    noStore,
    kind(isStore, 'must be the store of the server, such as redisStore({ url }).'),
  ),
  secrets: needed([], sharedSecrets),
  clock: aClock,
} satisfies Fields<KeyManagementOptions>
