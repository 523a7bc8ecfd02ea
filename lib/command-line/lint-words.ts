import type { Mistake } from '../protocol/configuration'
import { rules } from '../lint/lint'
import { lintOptions } from './options'
import { readOptions, textsOf } from './words'

/** What the words behind `lint` ask for. */
export type LintAsked =
  | { readonly kind: 'help' }
  | { readonly kind: 'rules' }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly Mistake[] }
  | {
      readonly kind: 'lint'
      readonly file: string
      readonly allowed: readonly string[]
      readonly json: boolean
    }

/** Reads the words behind `lint`; with any mistake nothing is loaded. */
export function readLintWords(words: readonly string[]): LintAsked {
  if (words.length === 0 || words.includes('--help') || words.includes('-h')) return { kind: 'help' }
  const mistakes: Mistake[] = []
  const { values, positionals } = readOptions(words, lintOptions, mistakes)
  const allowed = textsOf(values.get('allow'))
  for (const rule of allowed)
    if (!rules.some(({ id }) => id === rule))
      mistakes.push({ path: '--allow', problem: `names ${rule}, which is no rule; lint --rules lists them.` })
  const [file = '', ...others] = positionals
  for (const word of others) mistakes.push({ path: word, problem: 'is one word too many.' })
  if (file === '' && !values.has('rules'))
    mistakes.push({ path: 'CONFIG', problem: 'is missing: name the file that exports the options.' })
  if (mistakes.length > 0) return { kind: 'mistakes', mistakes }
  return values.has('rules') ? { kind: 'rules' } : { kind: 'lint', file, allowed, json: values.has('json') }
}
