// Jest loads a sequencer before any transform: hence plain JavaScript.
'use strict'

const path = require('node:path')
const { default: Sequencer } = require('@jest/test-sequencer')

// The longest. Jest knows how long a file takes only where it has run before, and guesses by its size elsewhere.
const longest = new Set([
  'test/durability/durability.test.ts',
  'test/faults/faults.test.ts',
  'test/stores/redis-cache-faults.test.ts',
  'test/fuzz/planted-faults.test.ts',
  'test/demo/browser.test.ts',
  'test/stores/redis-unreachable.test.ts',
  'test/demo/phone.test.ts',
  'test/package/packed-package.test.ts',
  'test/http/pressed-twice-in-browser.test.ts',
  'test/faults/planted-faults.test.ts',
  'test/faults/campaign/campaign.test.ts',
  'test/faults/campaign/planted.test.ts',
  'test/fuzz/consent-walks.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/foreign-clients/verifiers.test.ts',
  'test/foreign-clients/mcp.test.ts',
  'test/races/races.test.ts',
  'test/conformance/parameters.test.ts',
  'test/conformance/metadata-truth.test.ts',
  'test/http/pages/pages-in-browser.test.ts',
  'test/demo/demo.test.ts',
  'test/demo/relying-party.test.ts',
  'test/warning.test.ts',
])

const isLong = (test) => longest.has(path.relative(test.context.config.rootDir, test.path))

/** Starts the longest files first, so that no core idles at the end of a run. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- no method of an array
    const sorted = super.sort(tests)
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))]
  }
}
