import type { KeyStore, StoredText } from './key-store'
import { InMemory } from './in-memory'

export class MemoryKeys extends InMemory implements KeyStore {
  private readonly texts = new Map<string, StoredText>()

  async find(name: string): Promise<StoredText | undefined> {
    return this.texts.get(name)
  }

  // No await in `save`: it is atomic.
  async save(name: string, text: string, revision: string, expected?: string): Promise<boolean> {
    const stored = this.texts.get(name)?.revision
    if (stored === revision) return true
    if (stored !== expected) return false
    this.texts.set(name, { text, revision })
    return true
  }
}
