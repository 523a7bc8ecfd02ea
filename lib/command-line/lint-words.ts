import type { ConfigurationIssue } from '../protocol/configuration'
import { rules } from '../lint/lint'
import { lintOptions } from './options'
import { readOptions, textsOf } from './words'

/** What the words behind `lint` ask for. */
export type LintAsked =
  | { readonly kind: 'help' }
  | { readonly kind: 'rules' }
  | { readonly kind: 'mistakes'; readonly issues: readonly ConfigurationIssue[] }
  | {
      readonly kind: 'lint'
      readonly file: string
      readonly allowed: readonly string[]
      readonly json: boolean
    }

/** Reads the words behind `lint`; with any mistake nothing is loaded. */
export function readLintWords(words: readonly string[]): LintAsked {
  if (words.length === 0 || words.includes('--help') || words.includes('-h')) return { kind: 'help' }
  const issues: ConfigurationIssue[] = []
  const { values, positionals } = readOptions(words, lintOptions, issues)
  const allowed = textsOf(values.get('allow'))
  for (const rule of allowed)
    if (!rules.some(({ id }) => id === rule))
      issues.push({ path: '--allow', message: `names ${rule}, which is no rule; lint --rules lists them.` })
  const [file = '', ...others] = positionals
  for (const word of others) issues.push({ path: word, message: 'is one word too many.' })
  if (file === '' && !values.has('rules'))
    issues.push({ path: 'CONFIG', message: 'is missing: name the file that exports the options.' })
  if (issues.length > 0) return { kind: 'mistakes', issues }
  return values.has('rules') ? { kind: 'rules' } : { kind: 'lint', file, allowed, json: values.has('json') }
}
