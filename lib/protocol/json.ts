import { deepestJson } from './json-depth'

/** Values that a store can keep and return unchanged. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

// In characters of JSON. The bound is small, because every guarded request reads a record.
const longestKept = 16_384

/** Whether JSON brings the value back unchanged, and the value is small enough for a record. */
export function isKeepable(value: unknown): value is Json {
  return isJson(value) && JSON.stringify(value).length <= longestKept
}

/** Says what a value must be that a store can keep, as the rest of a sentence. */
export const keepableExpectation = `must be JSON (texts, finite numbers, booleans, null, lists and plain objects, ${deepestJson} deep) of at most ${longestKept} characters.`

/** Whether JSON brings the value back unchanged. */
export function isJson(value: unknown, depth = deepestJson): value is Json {
  if (typeof value === 'number') return Number.isFinite(value)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value !== 'object' || depth === 0) return false
  // JSON turns a hole in a list into null.
  if (Array.isArray(value))
    return !('toJSON' in value) && Array.from(value).every((item) => isJson(item, depth - 1))
  return isPlain(value) && Object.values(value).every((item) => isJson(item, depth - 1))
}

// JSON turns a Date, a Buffer or a Map into something else. Object.prototype alone has no prototype: compared so, an
// object of another realm is plain too, such as a JWK of node:crypto in a test that jest runs.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlainPrototype = prototype === null || Object.getPrototypeOf(prototype) === null
  return isPlainPrototype && !('toJSON' in value)
}

/** Whether every parser reads the same texts: what a lone surrogate becomes is open (RFC 8259 8.2, RFC 7493 2.1). */
export function isUnicode(value: Json): boolean {
  if (typeof value === 'string') return !/\p{Surrogate}/u.test(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, member]) => isUnicode(name) && isUnicode(member))
}
