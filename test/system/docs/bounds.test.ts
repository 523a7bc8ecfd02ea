import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { allBounds } from './bounds'
import { boundsPage } from './bounds-page'
import { read, root } from './example'

test('bounds.md is what the code says: npm run reference', () => {
  expect(read('docs/bounds.md')).toBe(boundsPage())
})

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
