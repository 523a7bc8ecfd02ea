'use strict'

const { default: Sequencer } = require('@jest/test-sequencer')

// In a fresh clone Jest knows no times, and what takes longest would begin last.
const slowest = [
  'node-versions',
  'verifiers',
  'processes/processes',
  'packed-package',
  'demo/demo',
  'bundles',
  'processes/owners',
  'stores/sqlite',
  'campaign',
]

const rankOf = ({ path }) => {
  const rank = slowest.findIndex((name) => path.includes(`${name}.test`))
  return rank === -1 ? slowest.length : rank
}

module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const usual = super.sort(tests) // oxlint-disable-line no-array-sort
    return usual.toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}
