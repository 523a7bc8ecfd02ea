import type { KeyObject } from 'node:crypto'

/** A key as JSON. */
export function jwkOf(key: KeyObject): Readonly<Record<string, string>> {
  return JSON.parse(JSON.stringify(key.export({ format: 'jwk' })))
}
