import { featureCostOf } from './feature-cost'

const line = (...fields: string[]) => fields.join('\t')

test('a file that changed outside the folder of the feature counts', () => {
  expect(featureCostOf(line('M', 'lib/http/endpoint.ts'), ['lib/cors']).changed).toEqual([
    'lib/http/endpoint.ts',
  ])
})

test('a removed file counts', () => {
  expect(featureCostOf(line('D', 'lib/http/old.ts'), ['lib/cors']).changed).toEqual(['lib/http/old.ts'])
})

test('a file in the folder of the feature does not count, and one in a folder of a longer name does', () => {
  const diff = [line('M', 'lib/cors/cors.ts'), line('M', 'lib/cors-page/page.ts')].join('\n')
  expect(featureCostOf(diff, ['lib/cors']).changed).toEqual(['lib/cors-page/page.ts'])
})

test('a feature may have several folders', () => {
  const diff = [line('M', 'lib/cors/cors.ts'), line('M', 'lib/jwt/jwt.ts')].join('\n')
  expect(featureCostOf(diff, ['lib/cors', 'lib/jwt']).changed).toEqual([])
})

test('a renamed file counts only if it changed, and under its new name', () => {
  const diff = [
    line('R100', 'lib/http/a.ts', 'lib/http/b.ts'),
    line('R087', 'lib/http/c.ts', 'lib/http/d.ts'),
  ].join('\n')
  const { changed, moved } = featureCostOf(diff, ['lib/cors'])
  expect(changed).toEqual(['lib/http/d.ts'])
  expect(moved).toEqual(['lib/http/b.ts'])
})

test('a file that moved into the folder of the feature does not count', () => {
  const diff = line('R090', 'lib/http/cors.ts', 'lib/cors/cors.ts')
  expect(featureCostOf(diff, ['lib/cors']).changed).toEqual([])
})

test('added files are listed apart', () => {
  expect(featureCostOf(line('A', 'lib/http/new.ts'), ['lib/cors'])).toEqual({
    changed: [],
    moved: [],
    added: ['lib/http/new.ts'],
    lists: [],
  })
})

test('the lists that every feature extends do not count', () => {
  const lists = [
    'lib/index.ts',
    'lib/protocol/reasons.ts',
    'lib/config/options.ts',
    'lib/config/resolve-options.ts',
  ]
  const diff = lists.map((path) => line('M', path)).join('\n')
  expect(featureCostOf(diff, ['lib/cors'])).toEqual({ changed: [], moved: [], added: [], lists })
})

test('a document in lib does not count', () => {
  expect(featureCostOf(line('M', 'lib/README.md'), ['lib/cors']).changed).toEqual([])
})

test('an empty diff costs nothing', () => {
  expect(featureCostOf('', ['lib/cors']).changed).toEqual([])
})
