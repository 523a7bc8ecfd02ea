// Jest loads a reporter before any transform: hence plain JavaScript.
'use strict'

const path = require('node:path')

/** Ends a test run with its ten slowest files, and one line that any reader of a log understands. */
module.exports = class ClosingLine {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    const skipped = results.numPendingTests + results.numTodoTests
    const ending = skipped > 0 ? `, ${skipped} skipped` : ''
    const slowest = results.testResults
      .filter(({ perfStats }) => perfStats.runtime > 1000)
      .toSorted((a, b) => b.perfStats.runtime - a.perfStats.runtime)
      .slice(0, 10)
      .map(
        ({ perfStats, testFilePath }) =>
          `  ${(perfStats.runtime / 1000).toFixed(0)} s  ${path.relative('', testFilePath)}\n`,
      )
    const slow = slowest.length === 0 ? '' : `The slowest files:\n${slowest.join('')}`
    const line = `${results.numPassedTests} passed, ${failed} failed${ending}\n`
    // Jest's own summary comes after this call.
    process.once('exit', () => process.stdout.write(slow + line))
  }
}
