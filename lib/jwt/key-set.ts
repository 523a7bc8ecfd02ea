import type { Header, Jose, KeyLookup, VerificationKey } from './jose'
import type { PublicKey } from './public-keys'

/** Public keys of one issuer. An issuer that changes them has another set. */
export class KeySet {
  private lookup: KeyLookup | undefined

  constructor(private readonly keys: readonly PublicKey[]) {}

  /** The key that a header calls for, by `alg` and `kid`. @throws JOSEError when not exactly one fits. */
  find(jose: Jose, header: Header | undefined): Promise<VerificationKey> {
    this.lookup ??= jose.createLocalJWKSet({ keys: [...this.keys] })
    return this.lookup(header)
  }

  /** Whether it holds these keys and no other, in any order. */
  holds(keys: readonly PublicKey[]): boolean {
    return textOf(keys) === textOf(this.keys)
  }
}

const textOf = (keys: readonly PublicKey[]): string =>
  keys
    .map((key) => JSON.stringify(key))
    .toSorted()
    .join('\n')
