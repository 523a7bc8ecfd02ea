const given = new Map<string, Set<string>>()

/** Occasions of one code: some tell what a host's function threw, and that may differ each time. */
const occasionsAtMost = 50

/**
 * Gives a warning once per process for each occasion, of which a code has 50 at most; `docs/warnings.md` explains the codes.
 *
 * @param occasion what counts as the same warning; the code alone by default.
 */
export function warnOnce(code: string, message: string, occasion = code): void {
  const occasions = given.get(code) ?? new Set()
  if (occasions.has(occasion) || occasions.size >= occasionsAtMost) return
  given.set(code, occasions.add(occasion))
  process.emitWarning(message, { type: 'AuthorizationServerWarning', code })
}
