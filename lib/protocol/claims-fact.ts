import type { ConsentFact } from './extension'

// A name that is a URI stays as it is.
const wordsOf = (name: string) => (/^\w+$/.test(name) ? name.replaceAll('_', ' ') : name)

/** The fact of a page about single claims of OpenID Connect: none without a claim. */
export function claimsFact(names: readonly string[]): readonly ConsentFact[] {
  const values = names.map((value) => ({ value, description: wordsOf(value) }))
  return values.length === 0 ? [] : [{ name: 'claims', label: 'About you', values }]
}
