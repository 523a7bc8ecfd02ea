import { join } from 'node:path'
import { conformanceOf } from './report/conformance'

// That each requirement has a test is for `npm run conformance -- --check` to say; so is whether its page is up to date.
test('the list and the titles of the tests name the same requirements, and each can be read', () => {
  const { faults } = conformanceOf(join(__dirname, '../..'))
  expect(faults.filter((fault) => !fault.includes(' has no test: '))).toEqual([])
})
