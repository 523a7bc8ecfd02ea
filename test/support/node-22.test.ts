import { execFileSync } from 'node:child_process'
import { requireNode22 } from './node-22'

test('the tests have a Node 22 or newer for the programs that need one', () => {
  const version = execFileSync(requireNode22(), ['--version'], { encoding: 'utf8' })
  expect(Number.parseInt(version.slice(1), 10)).toBeGreaterThanOrEqual(22)
})
