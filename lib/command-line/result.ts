import type { ConfigurationIssue } from '../protocol/configuration'
import { printable } from './output'

/** What the process leaves behind. */
export interface Result {
  /** 0 done, 1 refused or failed, 2 wrong usage; of `lint`: 0 nothing, 1 findings, 2 it cannot be looked at. */
  readonly status: 0 | 1 | 2
  readonly output: string
  /** For people: notes and what went wrong. Never a credential. */
  readonly remarks: string
}

export function failed(status: 1 | 2, lines: readonly string[]): Result {
  return { status, output: '', remarks: lines.map(printable).join('\n') }
}

/** Wrong usage, with every mistake. */
export function misunderstood(issues: readonly ConfigurationIssue[]): Result {
  return failed(2, ['This cannot be understood:', ...issues.map(lineOf), 'See --help.'])
}

export const lineOf = ({ path, message }: ConfigurationIssue): string => `  - ${path} ${message}`
