import type { ExtensionData, Json } from '../protocol/bindings'
import { parseScope, type Scope } from '../protocol/scope'

/** The places of one tuple that came back from a store. Each reader throws when the place is not what it says. */
export class StoredTuple {
  private constructor(private readonly places: readonly Json[]) {}

  /** Reads a tuple out of JSON. */
  static parse(text: string): StoredTuple {
    try {
      const value: Json = JSON.parse(text)
      return new StoredTuple(isList(value) ? value : unreadable('all'))
    } catch (cause) {
      throw cause instanceof SyntaxError ? new Error(`${what}: it is no JSON.`, { cause }) : cause
    }
  }

  get length(): number {
    return this.places.length
  }

  has(at: number): boolean {
    return (this.places[at] ?? null) !== null
  }

  isTuple(at: number): boolean {
    return isList(this.json(at))
  }

  /** What `read` makes of each place. */
  map<T>(read: (at: number) => T): readonly T[] {
    return this.places.map((_, at) => read(at))
  }

  json(at: number): Json {
    return this.places[at] ?? null
  }

  text(at: number): string {
    const value = this.places[at]
    return typeof value === 'string' && value !== '' ? value : unreadable(at)
  }

  optionalText(at: number): string | undefined {
    return this.has(at) ? this.text(at) : undefined
  }

  /** A count or a time. */
  integer(at: number): number {
    const value = this.places[at]
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : unreadable(at)
  }

  boolean(at: number): boolean {
    const value = this.places[at]
    return typeof value === 'boolean' ? value : unreadable(at)
  }

  scope(at: number): Scope {
    return this.places[at] === '' ? [] : (parseScope(this.text(at)) ?? unreadable(at))
  }

  /** A digest, a space, and seconds since the epoch in base 36. */
  digestWithEnd(at: number): { readonly digest: string; readonly expiresAt: number } {
    const text = this.text(at)
    const space = text.lastIndexOf(' ')
    const expiresAt = Number.parseInt(text.slice(space + 1), 36)
    return space > 0 && Number.isSafeInteger(expiresAt)
      ? { digest: text.slice(0, space), expiresAt }
      : unreadable(at)
  }

  extensionData(at: number): ExtensionData {
    const value = this.places[at]
    return typeof value === 'object' && value !== null && !isList(value) ? value : unreadable(at)
  }

  tuple(at: number): StoredTuple {
    const value = this.json(at)
    return new StoredTuple(isList(value) ? value : unreadable(at))
  }
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

const what = 'A stored authorization is not readable by this version'

function unreadable(at: number | 'all'): never {
  throw new Error(`${what}: place ${at} of it is not as expected.`)
}
