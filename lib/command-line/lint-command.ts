import { existsSync } from 'node:fs'
import { lint, rules } from './lint/lint'
import { type Finding, subjectOf } from './lint/lint-rule'
import { ConfigurationError, type ConfigurationIssue, isRecord } from '../primitives/options-reader'
import { loadConfiguration } from './commands'
import { lintOptions } from './command-options'
import { failed, jsonText, misunderstood, printable, type Result, tableText } from './result'
import { lintUsage, program } from './usage'
import { readOptions, textsOf } from './words'

const noteOnJson = 'JSON holds no store and no function, so lint has checked neither.'
// Every JSON file would break these: JSON cannot hold a store.
const rulesBeyondJson = ['memory-store', 'memory-counters']

export async function runLint(words: readonly string[]): Promise<Result> {
  const asked = readLintWords(words)
  if (asked.kind === 'help') return { status: 0, output: `${lintUsage()}\n\n${rulesText()}`, remarks: '' }
  if (asked.kind === 'rules') return { status: 0, output: rulesText(), remarks: '' }
  if (asked.kind === 'mistakes') return misunderstood(asked.issues)
  return check(asked.file, asked.allowed, asked.json)
}

async function check(file: string, allowed: readonly string[], json: boolean): Promise<Result> {
  const loaded = await loadConfiguration(file).catch((error: unknown) => failedWith(file, error))
  if ('status' in loaded) return loaded
  try {
    const { subject, unseenClients } = await subjectOf(loaded.options)
    const findings = lint(subject, [...allowed, ...(loaded.plain ? rulesBeyondJson : [])])
    const remarks = [
      summaryOf(findings, subject.clients.length),
      ...(unseenClients === undefined ? [] : [`Clients were not checked: ${unseenClients}`]),
      ...(loaded.plain ? [noteOnJson] : []),
    ]
    const output = findingsText(findings, json)
    return { status: findings.length === 0 ? 0 : 1, output, remarks: remarks.join('\n') }
  } catch (error) {
    if (!(error instanceof ConfigurationError)) return failedWith(file, error)
    return {
      status: 2,
      output: mistakesText(error.issues, json),
      remarks: 'No server can start with this configuration.',
    }
  } finally {
    await closeStore(loaded.options)
  }
}

function failedWith(file: string, error: unknown): Result {
  const lines =
    error instanceof Error ? error.message.split('\n') : ['it threw a value that is not an error.']
  return failed(2, [`${file} cannot be checked:`, ...lines, ...wayForTypeScript(file, error)])
}

// Node 20 loads no TypeScript. Later versions load what is valid without its types, and need full names of
// imports.
const codesOfTypeScript: ReadonlySet<unknown> = new Set([
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
  'ERR_MODULE_NOT_FOUND',
])

function wayForTypeScript(file: string, error: unknown): readonly string[] {
  if (!isRecord(error) || !/\.[cm]?tsx?$/.test(file) || !existsSync(file)) return []
  if (!codesOfTypeScript.has(error['code']) && error['name'] !== 'SyntaxError') return []
  return [
    'This Node does not load this TypeScript without help. Name the compiled file, or install tsx and run:',
    `NODE_OPTIONS='--import tsx' npx ${program} lint ${file}`,
  ]
}

/** An open connection would keep this process alive. */
async function closeStore(options: unknown): Promise<void> {
  const store = isRecord(options) ? options['store'] : undefined
  if (isRecord(store) && typeof store['close'] === 'function') await store['close']()
}

type LintAsked =
  | { readonly kind: 'help' }
  | { readonly kind: 'rules' }
  | { readonly kind: 'mistakes'; readonly issues: readonly ConfigurationIssue[] }
  | {
      readonly kind: 'lint'
      readonly file: string
      readonly allowed: readonly string[]
      readonly json: boolean
    }

/** After a mistake, the command loads nothing. */
function readLintWords(words: readonly string[]): LintAsked {
  if (words.length === 0 || words.includes('--help') || words.includes('-h')) return { kind: 'help' }
  const issues: ConfigurationIssue[] = []
  const { values, positionals } = readOptions(words, lintOptions, issues)
  const allowed = textsOf(values.get('allow'))
  for (const rule of allowed)
    if (!rules.some(({ id }) => id === rule))
      issues.push({
        path: '--allow',
        message: `names ${rule}, which is not a rule; lint --rules lists all rules.`,
      })
  const [file = '', ...others] = positionals
  for (const word of others) issues.push({ path: word, message: 'is one word too many.' })
  if (file === '' && !values.has('rules'))
    issues.push({ path: 'CONFIG', message: 'is missing: name the file that exports the options.' })
  if (issues.length > 0) return { kind: 'mistakes', issues }
  return values.has('rules') ? { kind: 'rules' } : { kind: 'lint', file, allowed, json: values.has('json') }
}

function findingsText(findings: readonly Finding[], json: boolean): string {
  if (json) return jsonText(findings)
  if (findings.length === 0) return ''
  const rows = findings.map(({ severity, rule, path, client, source }) => {
    return { severity, rule, path, client, source }
  })
  const meanings = findings.map(({ rule, why, cure }) => printable(`${rule}: ${why} ${cure}`))
  return [tableText(rows), '', ...new Set(meanings)].join('\n')
}

/** Mistakes with which no server can start. */
function mistakesText(issues: readonly ConfigurationIssue[], json: boolean): string {
  const rows = issues.map(({ path, message }) => {
    return { severity: 'error', rule: 'configuration', path, why: `This ${message}` }
  })
  return json ? jsonText(rows) : tableText(rows)
}

function summaryOf(findings: readonly Finding[], clients: number): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const warnings = findings.length - errors
  return `${counted(errors, 'error')}, ${counted(warnings, 'warning')} in ${counted(rules.length, 'rule')} and ${counted(clients, 'client')}.`
}

function rulesText(): string {
  return tableText(rules.map(({ id, severity, why, source }) => ({ rule: id, severity, why, source })))
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`
