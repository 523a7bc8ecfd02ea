import { rules } from '../lint/lint'
import type { Finding } from '../lint/rule'
import type { ConfigurationIssue } from '../protocol/configuration'
import { jsonText, printable, tableText } from './output'

/** Findings for people, a table and then what each rule means, or as JSON. */
export function findingsText(findings: readonly Finding[], json: boolean): string {
  if (json) return jsonText(findings)
  if (findings.length === 0) return ''
  const rows = findings.map(({ severity, rule, path, client, source }) => {
    return { severity, rule, path, client, source }
  })
  const meanings = findings.map(({ rule, why, cure }) => printable(`${rule}: ${why} ${cure}`))
  return [tableText(rows), '', ...new Set(meanings)].join('\n')
}

/** Mistakes that keep a server from starting, in the form of findings. */
export function mistakesText(issues: readonly ConfigurationIssue[], json: boolean): string {
  const rows = issues.map(({ path, message }) => {
    return { severity: 'error', rule: 'configuration', path, why: `This ${message}` }
  })
  return json ? jsonText(rows) : tableText(rows)
}

/** How many of each severity there are. */
export function summaryOf(findings: readonly Finding[], clients: number): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const warnings = findings.length - errors
  return `${counted(errors, 'error')}, ${counted(warnings, 'warning')} in ${counted(rules.length, 'rule')} and ${counted(clients, 'client')}.`
}

/** Every rule. */
export function rulesText(): string {
  return tableText(rules.map(({ id, severity, why, source }) => ({ rule: id, severity, why, source })))
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`
