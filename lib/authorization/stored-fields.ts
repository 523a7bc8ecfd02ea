import type { Bindings, Json } from '../protocol/bindings'
import { isBoolean, isRecord, isText, isTexts } from '../protocol/configuration'

/** The fields of one object that came back from a store. Each reader throws when the field is not what it says. */
export class StoredFields {
  private readonly source: Readonly<Record<string, unknown>>

  constructor(value: unknown, key = 'record') {
    if (!isRecord(value)) throw unreadable(key)
    this.source = value
  }

  /** Reads an object out of JSON. */
  static parse(text: string): StoredFields {
    try {
      return new StoredFields(JSON.parse(text))
    } catch (cause) {
      throw cause instanceof SyntaxError ? unreadable('record', cause) : cause
    }
  }

  text(key: string): string {
    return this.read(key, isText)
  }

  texts(key: string): readonly string[] {
    return this.read(key, isTexts)
  }

  /** A count or a time. */
  integer(key: string): number {
    return this.read(key, isInteger)
  }

  boolean(key: string): boolean {
    return this.read(key, isBoolean)
  }

  bindings(key: string): Bindings {
    return this.read(key, isBindings)
  }

  json(key: string): Json {
    return this.read(key, isJson)
  }

  object(key: string): StoredFields {
    return new StoredFields(this.source[key], key)
  }

  objects(key: string): readonly StoredFields[] {
    return this.read(key, Array.isArray).map((value: unknown) => new StoredFields(value, key))
  }

  /** What `read` makes of the field; undefined when it is not there. */
  optional<T>(key: string, read: (fields: StoredFields, key: string) => T): T | undefined {
    return this.source[key] === undefined ? undefined : read(this, key)
  }

  private read<T>(key: string, accepts: (value: unknown) => value is T): T {
    const value = this.source[key]
    if (!accepts(value)) throw unreadable(key)
    return value
  }
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function isBindings(value: unknown): value is Bindings {
  return isRecord(value) && Object.values(value).every(isJson)
}

function isJson(value: unknown): value is Json {
  if (Array.isArray(value)) return value.every(isJson)
  if (isRecord(value)) return Object.values(value).every(isJson)
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

function unreadable(key: string, cause?: unknown): Error {
  const message = `A stored authorization is not readable by this version: its field "${key}" is not as expected.`
  return new Error(message, { cause })
}
