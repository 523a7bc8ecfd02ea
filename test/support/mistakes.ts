import { type ConfigurationIssue, createAuthorizationServer } from '../../lib/index'
import { mistakesOf, type Maker } from './mistakes-of'
import { optionsWith } from './registrations'

const javascript: Maker = { make: createAuthorizationServer }

/** Every mistake in options of any kind. */
export const issuesIn = (options: unknown): readonly ConfigurationIssue[] => mistakesOf(javascript, options)

/** Every mistake in good options with some of them bent. */
export function mistakesWith(bend: Readonly<Record<string, unknown>>): readonly ConfigurationIssue[] {
  return issuesIn({ ...optionsWith(), ...bend })
}

/** Their paths. */
export function pathsWith(bend: Readonly<Record<string, unknown>>): readonly string[] {
  return mistakesWith(bend).map(({ path }) => path)
}
