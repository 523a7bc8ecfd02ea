import { setImmediate } from 'node:timers/promises'
import type { KeyStore, StoredText } from '../../../lib/index'

/** A key store that really waits, whose texts a test can read and bend, and whose process can be killed. */
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

  /** This store as a process sees it that is killed at a step: before or after a call. */
  killedAt(step: number): KeyStore {
    let steps = 0
    const alive = async <T>(call: () => Promise<T>): Promise<T> => {
      steps += 1
      if (steps === step) throw new Error('killed')
      const result = await call()
      steps += 1
      if (steps === step) throw new Error('killed')
      return result
    }
    return {
      find: (name) => alive(() => this.find(name)),
      save: (...words) => alive(() => this.save(...words)),
    }
  }
}
