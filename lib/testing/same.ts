import { deepEqual } from 'node:assert/strict'

/** Fails unless both say the same as JSON: a member that is undefined may as well be missing. */
export function same(found: unknown, expected: unknown): void {
  deepEqual(plain(found), plain(expected))
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}
