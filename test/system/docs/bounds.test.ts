import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { allBounds } from '../../../docs/reference/bounds'
import { read, root } from './example'

test('a test reaches each bound', () => {
  const sourceOf = (file: string) => (existsSync(join(root, file)) ? read(file) : '')
  const unreached = allBounds.filter(({ test: named, most }) => {
    const [file = '', ...title] = named.split(': ')
    const source = sourceOf(`test/${file}.test.ts`)
    return !["'", '"', '`'].some((quote) => source.includes(quote + title.join(': ') + quote)) || !(most > 0)
  })
  expect(unreached).toEqual([])
  expect(allBounds.length).toBeGreaterThan(100)
})
