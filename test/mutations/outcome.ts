import { relative } from 'node:path'

/** The part of `jest --json` that counts. */
interface Run {
  readonly numFailedTests: number
  readonly numPassedTests: number
  readonly testResults: readonly {
    /** The path of the file. */
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly unknown[]
  }[]
}

/**
 * The outcome in what `jest --json` printed: `red` if a test failed, `green` if all passed, else why nothing can be
 * said. A file that does not load may hold the only test that would have failed.
 */
export function outcomeIn(printed: string, root: string): string {
  const [line] = /^\{.*\}$/m.exec(printed) ?? []
  if (line === undefined) return 'no test ran'
  const { numFailedTests, numPassedTests, testResults }: Run = JSON.parse(line)
  if (numFailedTests > 0) return 'red'
  const unloaded = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  )
  if (unloaded.length > 0)
    return `these files do not load: ${unloaded.map(({ name }) => relative(root, name)).join(', ')}`
  return numPassedTests > 0 ? 'green' : 'no test ran'
}
