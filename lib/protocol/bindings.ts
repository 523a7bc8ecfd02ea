/** Values that survive a store: what an extension may keep with an authorization. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** What each extension learned at the authorization request, under the extension's own name. */
export type ExtensionData = Readonly<Record<string, Json>>

// Records are read by every guarded request.
const longestKept = 16_384
const deepest = 32

/** Whether the value comes back from JSON as what it was, and is small enough to be kept with an authorization. */
export function isKeepable(value: unknown): value is Json {
  return isJson(value, deepest) && JSON.stringify(value).length <= longestKept
}

/** What cures a value that cannot be kept, as the rest of a sentence. */
export const keepableCure = `must be JSON (texts, finite numbers, booleans, null, lists and plain objects, ${deepest} deep) of at most ${longestKept} characters.`

function isJson(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value !== 'object' || depth === 0) return false
  // A hole in a list comes back as null.
  if (Array.isArray(value)) return Array.from(value).every((item) => isJson(item, depth - 1))
  return isPlain(value) && Object.values(value).every((item) => isJson(item, depth - 1))
}

// A Date, a Buffer or a Map comes back as something else.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && !('toJSON' in value)
}
