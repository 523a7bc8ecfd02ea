import { DocumentUnavailable } from './document-unavailable'

// More than any document of OAuth has. Code that walks through a value by recursion stays far from the end of the stack.
const deepest = 32

/**
 * Reads a JSON text (RFC 8259) in UTF-8 without a byte order mark. Leaves out members with the name `__proto__`, with
 * which a copy of the object could get another prototype. Of members with equal names, the last counts.
 *
 * @throws DocumentUnavailable for other bytes, and for a value with more than 32 levels.
 */
export function readJson(bytes: Uint8Array): unknown {
  const json = parse(bytes)
  if (!isShallow(json)) throw new DocumentUnavailable('malformed')
  return json
}

function parse(bytes: Uint8Array): unknown {
  try {
    // Keeps a byte order mark in the text, so that JSON.parse refuses it.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return JSON.parse(text, (name, value: unknown) => (name === '__proto__' ? undefined : value))
  } catch (error) {
    throw new DocumentUnavailable('malformed', error)
  }
}

// Goes from level to level, without recursion.
function isShallow(json: unknown): boolean {
  let level: readonly unknown[] = [json]
  for (let depth = 0; depth < deepest && level.length > 0; depth++)
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    )
  return level.length === 0
}
