import type { Member } from './tsdoc'

/** With an empty line between two; empty texts are left out. */
export const blocks = (...texts: readonly string[]): string =>
  texts.filter((text) => text !== '').join('\n\n')

/** A page ends its last line. */
export const pageOf = (...texts: readonly string[]): string => `${blocks(...texts)}\n`

export const list = (items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n')

/** `a`, `b` and `c`. */
export function enumeration(items: readonly string[]): string {
  const [last = '', ...others] = items.toReversed()
  return others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`
}

/** What the TSDoc of a member says, in one paragraph. */
export function paragraphOf({ shape, text, see }: Member): string {
  const isTold = shape === '' || text.includes('`{ ')
  const links = see.map((path) => `[More](${path.replace(/^docs\//, '')}).`)
  return [isTold ? '' : `${shape}.`, text, ...links].filter((part) => part !== '').join(' ')
}

const code = [
  // dpop(), app.use(session(…))
  /[\w.]+\((?:[^()]|\([^()]*\))*\)/,
  // cors: { origins: ['https://app.example'] }
  /(?:[a-z]+: )?\{ [^{}]* \}/,
  // prompt=none
  /\w+=[\w:.-]*\w/,
  /urn:[\w:-]*\w/,
  // limits.issuing
  /[a-z]\w*(?:\.[a-z]\w*)+/,
  // client_id, redirectUris
  /[a-z][a-z0-9]*[A-Z_]\w*/,
]
const anyCode = new RegExp(
  `(?<![\\w:/'.-])(?:${code.map(({ source }) => source).join('|')})(?![\\w/'-])`,
  'g',
)

/** Marks the code in a text that is made for terminals. */
export const withCode = (text: string): string => text.replaceAll(anyCode, '`$&`').replaceAll('<', '\\<')
