import type { WarningCode } from '../protocol/warning-code'

const given = new Map<string, Set<string>>()

// An error message of the host may differ each time.
const maximumOccasions = 50

export function warnOnce(code: WarningCode, message: string, occasion: string = code): void {
  emitOnce(code, message, occasion)
}

// Not only codes of this package: a host may bring the store.
export function warnOfStore({ code, message }: { readonly code: string; readonly message: string }): void {
  emitOnce(code, message, code)
}

// The caller bounds how often.
export function warn(code: WarningCode, message: string): void {
  emit(code, message)
}

function emitOnce(code: string, message: string, occasion: string): void {
  const occasions = given.get(code) ?? new Set()
  if (occasions.has(occasion) || occasions.size >= maximumOccasions) return
  given.set(code, occasions.add(occasion))
  emit(code, message)
}

function emit(code: string, message: string): void {
  process.emitWarning(message, { type: 'AuthorizationServerWarning', code })
}
