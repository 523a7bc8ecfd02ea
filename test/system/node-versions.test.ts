import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { requireNode } from '../support/nodes'
import { atTheEdge } from './edge'

const root = join(__dirname, '../..')

/** Runs Jest on a version of Node. Returns what failed. */
function failuresOn(version: 22 | 24 | 26, ...words: readonly string[]): string {
  const jest = join(root, 'node_modules/jest/bin/jest.js')
  // The other tests of the system run beside them.
  const { status, stderr } = spawnSync(requireNode(version), [jest, ...words, '--ci', '--maxWorkers=2'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
  })
  // Jest prints each failure under a bullet.
  return status === 0 ? '' : stderr.slice(stderr.indexOf('●'))
}

// Express 4 stands in for Express 5 on one of them: what differs between its versions is not what differs between Nodes.
test.each([
  [22, ['--config', 'test/system/express-4.config.ts']],
  [26, ['--selectProjects', 'suite']],
] as const)('The flows at the edge are green on Node %d', (version, project) => {
  expect(failuresOn(version, ...atTheEdge, ...project)).toBe('')
})

test('The flows that write each kind of record are green on Node 24, on SQLite', () => {
  expect(failuresOn(24, '--config', 'test/system/sqlite.config.ts')).toBe('')
})
