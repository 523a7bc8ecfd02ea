import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { nodeVersions, requireNode } from '../support/nodes'
import { rulesAndEdge } from './edge'

const root = join(__dirname, '../..')

test.each(nodeVersions)('The rules and the flows at the edge are green on Node %d', (version) => {
  const jest = join(root, 'node_modules/jest/bin/jest.js')
  const paths = rulesAndEdge.map((path) => path.replace('*.test.ts', ''))
  const words = [...paths, '--ci', '--selectProjects', 'suite']
  const { status, stderr } = spawnSync(requireNode(version), [jest, ...words], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
  })
  // Jest prints each failure under a bullet.
  expect(status === 0 ? '' : stderr.slice(stderr.indexOf('●'))).toBe('')
})
