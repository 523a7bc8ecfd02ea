import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { requireNode } from '../support/nodes'
import { rulesAndEdge } from './edge'

const root = join(__dirname, '../..')

// Express 4 stands in for Express 5 on one of them: what differs between its versions is not what differs between Nodes.
test.each([
  [22, ['--config', 'test/system/express-4.config.ts']],
  [24, ['--selectProjects', 'suite']],
  [26, ['--selectProjects', 'suite']],
] as const)('The rules and the flows at the edge are green on Node %d', (version, project) => {
  const jest = join(root, 'node_modules/jest/bin/jest.js')
  const paths = rulesAndEdge.map((path) => path.replace('*.test.ts', ''))
  // The other tests of the system run beside them.
  const words = [...paths, '--ci', '--maxWorkers=2', ...project]
  const { status, stderr } = spawnSync(requireNode(version), [jest, ...words], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
  })
  // Jest prints each failure under a bullet.
  expect(status === 0 ? '' : stderr.slice(stderr.indexOf('●'))).toBe('')
})
