/** Scope tokens in the order in which they were asked for, each once. Order carries no meaning (RFC 6749 3.3). */
export type Scope = readonly string[]

// RFC 6749 3.3: scope-token = 1*( %x21 / %x23-5B / %x5D-7E ), one space between two.
const grammar = /^[\x21\x23-\x5B\x5D-\x7E]+(?: [\x21\x23-\x5B\x5D-\x7E]+)*$/

/** Reads a scope; undefined when the text breaks the grammar: double spaces, tabs, quotes, non-ASCII. */
export function parseScope(text: string): Scope | undefined {
  if (!grammar.test(text)) return undefined
  return text.includes(' ') ? [...new Set(text.split(' '))] : [text]
}

/** Writes a scope as it stands on the wire. */
export function formatScope(scope: Scope): string {
  const [only = '', second] = scope
  return second === undefined ? only : scope.join(' ')
}

/** Whether every token of `part` is in `whole`; the tokens are case-sensitive. */
export function covers(whole: Scope, part: Scope): boolean {
  return part.every((token) => whole.includes(token))
}

/** Whether `whole` has at least one token of `part`. */
export function intersects(whole: Scope, part: Scope): boolean {
  return part.some((token) => whole.includes(token))
}
