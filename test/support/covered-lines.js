// Jest loads a reporter before any transform: hence plain JavaScript.
'use strict'

const { writeFileSync } = require('node:fs')
const paths = require('node:path')
const { createCoverageMap } = require('istanbul-lib-coverage')
const { createSourceMapStore } = require('istanbul-lib-source-maps')

/** Writes which lines of `lib/` each test file has run, for `test/breaks.ts`. */
module.exports = class CoveredLines {
  files = []
  pending = Promise.resolve()

  onTestFileResult({ context, path }, { coverage, perfStats }) {
    const { displayName, rootDir } = context.config
    const entry = {
      project: displayName.name,
      path: paths.relative(rootDir, path),
      milliseconds: perfStats.runtime,
    }
    this.pending = this.pending.then(async () => {
      const mapped = await createSourceMapStore().transformCoverage(createCoverageMap(coverage ?? {}))
      const lines = {}
      for (const file of mapped.files()) {
        const run = Object.entries(mapped.fileCoverageFor(file).getLineCoverage()).filter(
          ([, count]) => count > 0,
        )
        if (run.length > 0) lines[paths.relative(rootDir, file)] = run.map(([line]) => Number(line))
      }
      this.files.push({ ...entry, lines })
    })
  }

  async onRunComplete() {
    await this.pending
    writeFileSync(process.env['COVERED_LINES'], JSON.stringify(this.files))
  }
}
