import type { Jose } from './load-jose'
import type { PublicKey } from './public-keys'

/** Finds the key of a set for a header, by `alg` and `kid`. @throws JOSEError when not exactly one fits. */
export type KeyLookup = ReturnType<Jose['createLocalJWKSet']>

/** The header of a JWT, before anything about it is proven. */
export type Header = Parameters<KeyLookup>[0]

/** The keys of one issuer. */
export interface KeySource {
  /**
   * @param now seconds since the epoch.
   * @throws OAuthError `temporarily_unavailable` when the keys cannot be had.
   * @throws JOSEError when the issuer has no such key.
   */
  find(jose: Jose, header: Header | undefined, now: number): ReturnType<KeyLookup>
}

/** Keys that the configuration holds. */
export function givenKeys(keys: readonly PublicKey[]): KeySource {
  let lookup: KeyLookup | undefined
  return {
    find: (jose, header) => (lookup ??= jose.createLocalJWKSet({ keys: [...keys] }))(header),
  }
}
