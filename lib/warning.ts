const given = new Set<string>()

/** Gives a warning of this code once per process; `docs/warnings.md` explains each code. */
export function warnOnce(code: string, message: string): void {
  if (given.has(code)) return
  given.add(code)
  process.emitWarning(message, { type: 'AuthorizationServerWarning', code })
}
