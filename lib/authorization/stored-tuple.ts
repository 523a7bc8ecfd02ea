import type { ExtensionData } from '../protocol/extension-data'
import type { Json } from '../protocol/json'
import { parseScope, type Scope } from '../protocol/scope'

/** One list of a stored record. A reader throws an Error if the element has another type or form. */
export class StoredTuple {
  private constructor(private readonly elements: readonly Json[]) {}

  static parse(text: string): StoredTuple {
    try {
      const value: Json = JSON.parse(text)
      return new StoredTuple(isList(value) ? value : unreadable('all'))
    } catch (cause) {
      throw cause instanceof SyntaxError ? new Error(`${what}: the text is not JSON.`, { cause }) : cause
    }
  }

  get length(): number {
    return this.elements.length
  }

  has(at: number): boolean {
    return (this.elements[at] ?? null) !== null
  }

  isTuple(at: number): boolean {
    return isList(this.json(at))
  }

  map<T>(read: (at: number) => T): readonly T[] {
    return this.elements.map((_, at) => read(at))
  }

  json(at: number): Json {
    return this.elements[at] ?? null
  }

  text(at: number): string {
    const value = this.elements[at]
    return typeof value === 'string' && value !== '' ? value : unreadable(at)
  }

  texts(): readonly string[] {
    return this.map((at) => this.text(at))
  }

  optionalText(at: number): string | undefined {
    return this.has(at) ? this.text(at) : undefined
  }

  nothing(at: number): undefined {
    return this.has(at) ? unreadable(at) : undefined
  }

  integer(at: number): number {
    const value = this.elements[at]
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : unreadable(at)
  }

  boolean(at: number): boolean {
    const value = this.elements[at]
    return typeof value === 'boolean' ? value : unreadable(at)
  }

  scope(at: number): Scope {
    return this.elements[at] === '' ? [] : (parseScope(this.text(at)) ?? unreadable(at))
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
    const value = this.elements[at]
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
  throw new Error(`${what}: ${at === 'all' ? 'the text is not a list' : `element ${at} is malformed`}.`)
}
