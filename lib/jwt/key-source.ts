import type { Header, Jose, VerificationKey } from './jose'
import { KeySet } from './key-set'
import type { PublicKey } from './public-keys'

/** Where the keys of one issuer come from. */
export interface KeySource {
  /**
   * The set that counts right now, without asking anybody; undefined when it must be fetched. As long as the issuer does
   * not change its keys it is the same object.
   *
   * @param now seconds since the epoch.
   */
  trusted(now: number): KeySet | undefined
  /**
   * What the issuer publishes now, or published within a pause that spares it.
   *
   * @throws KeysUnavailable
   */
  fetched(now: number): Promise<KeySet>
}

/** The keys of an issuer cannot be had; the cause says why. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable'
}

/** Keys that the configuration holds. */
export function givenKeys(keys: readonly PublicKey[]): KeySource {
  const set = new KeySet(keys)
  return { trusted: () => set, fetched: async () => set }
}

/** A key, and the set that vouches for it. */
export interface FoundKey {
  readonly key: VerificationKey
  readonly keySet: KeySet
}

/**
 * The key of the issuer that a header calls for.
 *
 * @throws KeysUnavailable
 * @throws JOSEError when the issuer has no such key, or several.
 */
export async function findKey(
  jose: Jose,
  source: KeySource,
  header: Header | undefined,
  now: number,
): Promise<FoundKey> {
  const keySet = source.trusted(now) ?? (await source.fetched(now))
  try {
    return { key: await keySet.find(jose, header), keySet }
  } catch (error) {
    if (!(error instanceof jose.errors.JWKSNoMatchingKey)) throw error
    // The issuer may have changed its keys since.
    const newer = await source.fetched(now)
    return { key: await newer.find(jose, header), keySet: newer }
  }
}
