const given = new Map<string, Set<string>>()

/** Bounds the occasions of one code: an occasion may hold an error message of the host, which may differ each time. */
const maximumOccasions = 50

/**
 * Emits a warning once per process for each occasion, and for 50 occasions of one code at most. `docs/warnings.md`
 * explains the codes.
 *
 * @param occasion identifies the warning: the process warns once for each code and occasion. Default: the code alone.
 */
export function warnOnce(code: string, message: string, occasion = code): void {
  const occasions = given.get(code) ?? new Set()
  if (occasions.has(occasion) || occasions.size >= maximumOccasions) return
  given.set(code, occasions.add(occasion))
  process.emitWarning(message, { type: 'AuthorizationServerWarning', code })
}
