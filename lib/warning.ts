const given = new Set<string>()

/**
 * Gives a warning once per process for each occasion; `docs/warnings.md` explains the codes.
 *
 * @param occasion what counts as the same warning; the code alone by default.
 */
export function warnOnce(code: string, message: string, occasion = code): void {
  if (given.has(occasion)) return
  given.add(occasion)
  process.emitWarning(message, { type: 'AuthorizationServerWarning', code })
}
