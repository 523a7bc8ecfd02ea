import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mutations } from './all'

const lib = join(__dirname, '../../../lib')

// Trying the breaks takes minutes and is no part of the suite; that each can still be tried is.
test.each(mutations)('the break of %s in %s can be made: %j', (_id, file, text) => {
  expect(readFileSync(join(lib, file), 'utf8').split(text)).toHaveLength(2)
})
