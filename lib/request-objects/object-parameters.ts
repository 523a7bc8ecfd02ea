import { isRecord, isText } from '../primitives/values'
import { refused } from '../protocol/refusals'
import { isShallow } from '../protocol/json-depth'

/** The object's end. Other claims about the object are dropped. */
export const endOfObject = 'exp'

const aboutObject: ReadonlySet<string> = new Set(['iss', 'sub', 'aud', 'nbf', 'iat', 'jti'])

/**
 * RFC 9101 4. A list of texts repeats a parameter, such as `resource` (RFC 8707 2); other values become JSON,
 * such as `claims` (OpenID Connect Core 6.1). Null counts as omitted.
 */
export function parametersOf(claims: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(claims)) {
    if (aboutObject.has(name)) continue
    for (const text of textsOf(value)) parameters.append(name, text)
  }
  return parameters.toString()
}

function textsOf(value: unknown): readonly string[] {
  if (value === null) return []
  if (typeof value === 'string') return [value]
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return [`${value}`]
  if (Array.isArray(value) && value.length > 0 && value.every(isText)) return value
  if ((Array.isArray(value) || isRecord(value)) && isShallow(value)) return [JSON.stringify(value)]
  throw refused('request_object_claim_malformed')
}
