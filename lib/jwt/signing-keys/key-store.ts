import { isRecord } from '../../primitives/options-reader'

/** A text as a key store found it. A later save names its revision. */
export interface StoredText {
  readonly text: string
  /** 22 characters of base64url. The writer chooses the revision. */
  readonly revision: string
}

/**
 * Keeps the signing keys that servers make and share: a few texts, each under a name, for ever. The keys in a text are
 * sealed with a secret that the store does not have. A rejected promise means that the store failed.
 */
export interface KeyStore {
  /** Resolves to the text under this name; undefined if there is none. */
  find(name: string): Promise<StoredText | undefined>

  /**
   * Stores a text under its name, in one atomic act, if the stored text has the revision `expected`. Without `expected`,
   * the save succeeds only if no text is stored. Resolves to whether the save succeeded. If the stored text already has
   * `revision`, an earlier call succeeded and only its reply was lost: the save resolves to true.
   */
  save(name: string, text: string, revision: string, expected?: string): Promise<boolean>
}

/** Whether a value has both verbs of a key store. */
export function isKeyStore(value: unknown): value is KeyStore {
  return isRecord(value) && ['find', 'save'].every((verb) => typeof value[verb] === 'function')
}
