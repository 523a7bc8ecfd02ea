import { setImmediate } from 'node:timers/promises'
import type { KeyStore, StoredText } from '../../../lib/index'

/** A key store that really waits, whose texts a test can read and bend. */
export class WaitingKeys implements KeyStore {
  readonly texts = new Map<string, StoredText>()
  writes = 0

  async find(name: string): Promise<StoredText | undefined> {
    await setImmediate()
    const found = this.texts.get(name)
    await setImmediate()
    return found
  }

  async save(name: string, text: string, revision: string, expected?: string): Promise<boolean> {
    await setImmediate()
    const stored = this.texts.get(name)?.revision
    const saved = stored === revision || stored === expected
    if (saved) {
      this.writes += 1
      this.texts.set(name, { text, revision })
    }
    await setImmediate()
    return saved
  }
}
