// Jest loads a reporter before any transform: hence plain JavaScript.
'use strict'

/** Ends a test run with one line that any reader of a log understands. */
module.exports = class ClosingLine {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    const skipped = results.numPendingTests + results.numTodoTests
    const ending = skipped > 0 ? `, ${skipped} skipped` : ''
    const line = `${results.numPassedTests} passed, ${failed} failed${ending}\n`
    // Jest's own summary comes after this call.
    process.once('exit', () => process.stdout.write(line))
  }
}
