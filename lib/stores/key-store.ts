import { isRecord } from '../primitives/values'

/** A text of a key store. A later save names its revision. */
export interface StoredText {
  readonly text: string
  /** 22 characters of base64url, chosen by the writer. */
  readonly revision: string
}

/**
 * Stores the signing keys that servers share: a few texts, each under a name, for ever. The keys are sealed
 * with a secret that the store does not have. A rejected promise means that the store failed.
 */
export interface KeyStore {
  /** Undefined if there is no such text. */
  find(name: string): Promise<StoredText | undefined>

  /**
   * Stores a text, in one atomic act, if the stored text has the revision `expected`; without `expected`,
   * only if there is none. Resolves to whether it succeeded. If the stored text already has `revision`, an
   * earlier call succeeded and only its reply was lost: true.
   */
  save(name: string, text: string, revision: string, expected?: string): Promise<boolean>
}

export const isKeyStore = (value: unknown): value is KeyStore =>
  isRecord(value) && ['find', 'save'].every((verb) => typeof value[verb] === 'function')
