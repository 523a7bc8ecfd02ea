import { kind } from '../primitives/schema'

/** More than any message of OAuth has, and far from the end of the stack for recursion. */
export const deepestJson = 32

/** Without recursion. */
export function isShallow(json: unknown): boolean {
  let level: readonly unknown[] = [json]
  for (let depth = 0; depth < deepestJson && level.length > 0; depth++)
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    )
  return level.length === 0
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

// In characters: every guarded request reads a record.
export const longestKept = 16_384

export const isKeepable = (value: unknown): value is Json =>
  isJson(value) && JSON.stringify(value).length <= longestKept

export const keepableExpectation = `must be JSON (texts, finite numbers, booleans, null, lists and plain objects, ${deepestJson} deep) of at most ${longestKept} characters.`

export const keepable = kind(isKeepable, keepableExpectation)

/** Survives JSON unchanged. */
export function isJson(value: unknown, depth = deepestJson): value is Json {
  if (typeof value === 'number') return Number.isFinite(value)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value !== 'object' || depth === 0) return false
  // JSON turns a hole in a list into null.
  if (Array.isArray(value))
    return !('toJSON' in value) && Array.from(value).every((item) => isJson(item, depth - 1))
  return isPlain(value) && Object.values(value).every((item) => isJson(item, depth - 1))
}

// JSON changes a Date, a Buffer or a Map. An object of another realm is plain too: only Object.prototype has no
// prototype.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlainPrototype = prototype === null || Object.getPrototypeOf(prototype) === null
  return isPlainPrototype && !('toJSON' in value)
}

const loneSurrogate = /\p{Surrogate}/u

/** RFC 8259 8.2, RFC 7493 2.1: parsers read a lone surrogate differently. */
export function isUnicode(value: Json): boolean {
  if (typeof value === 'string') return !loneSurrogate.test(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, member]) => isUnicode(name) && isUnicode(member))
}
