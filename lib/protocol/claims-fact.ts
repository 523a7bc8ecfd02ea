import type { ConsentFact } from './extension'

// A URI stays as it is.
const wordsOf = (name: string) => (/^\w+$/.test(name) ? name.replaceAll('_', ' ') : name)

export function claimsFact(names: readonly string[]): readonly ConsentFact[] {
  const values = names.map((value) => ({ value, description: wordsOf(value) }))
  return values.length === 0 ? [] : [{ name: 'claims', label: 'About you', values }]
}
