import { isRecord } from '../primitives/values'
import { steadyClock } from '../primitives/steady-clock'
import { InMemory } from './in-memory'

/**
 * Shares texts among processes for a limited time: documents that another server can send again. A cache may
 * lose an entry at any time. A rejected promise means that the cache failed.
 */
export interface SharedCache {
  /** Resolves to undefined if there is no text, or its time is over. */
  get(key: string): Promise<string | undefined>
  /** Sets or replaces a text for `seconds`. */
  set(key: string, text: string, seconds: number): Promise<void>
}

export const isSharedCache = (value: unknown): value is SharedCache =>
  isRecord(value) && ['get', 'set'].every((verb) => typeof value[verb] === 'function')

const maximumTexts = 1000

/** Evicts the text that ends first. */
export const memoryCache = (clock: () => number): SharedCache => new MemoryCache(steadyClock(clock))

class MemoryCache extends InMemory implements SharedCache {
  private readonly texts = new Map<string, { readonly text: string; readonly expiresAt: number }>()

  constructor(private readonly clock: () => number) {
    super()
  }

  async get(key: string): Promise<string | undefined> {
    const known = this.texts.get(key)
    return known !== undefined && known.expiresAt > this.clock() ? known.text : undefined
  }

  async set(key: string, text: string, seconds: number): Promise<void> {
    if (!this.texts.has(key) && this.texts.size >= maximumTexts) this.dropFirstToEnd()
    this.texts.set(key, { text, expiresAt: this.clock() + seconds * 1000 })
  }

  // Microseconds, and other servers were asked for each text.
  private dropFirstToEnd(): void {
    let first = { key: '', expiresAt: Infinity }
    for (const [key, { expiresAt }] of this.texts) if (expiresAt < first.expiresAt) first = { key, expiresAt }
    this.texts.delete(first.key)
  }
}
