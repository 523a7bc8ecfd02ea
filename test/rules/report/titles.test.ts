import { titlesOf } from './titles'

/** The ids that the titles of a source name; an @ in it is an id, so that none here passes for one of this file. */
const idsIn = (source: string): readonly string[] =>
  titlesOf(source.replaceAll('@', '[ONE-1]')).flatMap(({ ids }) => ids)

test.each([
  ['a test', `test('@ works', () => {})`],
  ['another word for it', `it("@ works", () => {})`],
  ['a group', `describe('@ works', () => {})`],
  ['a group on every store', `describeOnStores('@ works', (stage) => {})`],
  ['a template', `test(\`@ works with \${what}\`, () => {})`],
  ['a text in two parts', `test('@ works ' + 'well', () => {})`],
  ['a constant', `const title = '@ works'\ntest(title, () => {})`],
  ['a test in a group in a function', `const stories = () => describe('x', () => void it('@', () => {}))`],
  ['a title on a line of its own', `test.each([1])(\n  '@ works: %s',\n  () => {},\n)`],
  ['one alone that runs', `test.only('@ works', () => {})`],
  ['an id later in a title', `test('A client @ works', () => {})`],
  ['a row', `test.each([['@ works', 1]])('%s', () => {})`],
  ['a row beside parts', `const [a] = [1]\ntest.each([['@ works', a]] as const)('%s', () => {})`],
  ['a row of a constant', `const rows = [['@', 1]] as const\ndescribe.each(rows)('%s', () => {})`],
  ['a row of a mapped one', `const t = ['@']\nconst r = t.map((x) => [x])\ntest.each(r)('%s', () => {})`],
  ['a table in a template', `test.each\`\na | b\n\${'@'} | \${1}\n\`('$a', () => {})`],
])('the id of %s is found', (_, source) => {
  expect(idsIn(source)).toEqual(['ONE-1'])
})

test('several ids are found, in one pair of brackets or each in its own', () => {
  expect(idsIn(`test('[ONE-1, TWO-2] works', () => {})`)).toEqual(['ONE-1', 'TWO-2'])
  expect(idsIn(`test('@ [TWO-2] works', () => {})`)).toEqual(['ONE-1', 'TWO-2'])
})

test.each([
  ['a skipped test', `test.skip('@ works', () => {})`],
  ['a test to come', `test.todo('@ works')`],
  ['a test in a skipped group', `describe.skip('x', () => void test('@ works', () => {}))`],
  ['a skipped table', `test.skip.each([1])('@ %s', () => {})`],
  ['a test that is switched off', `xit('@ works', () => {})`],
  ['a comment', `// test('@ works', () => {})`],
  ['a text', `const text = "test('@ works', () => {})"`],
  ['another call', `expression.test('@');/x/.test('@')`],
  ['a row that does not get into the title', `test.each(['@'])('works', () => {})`],
])('%s proves nothing', (_, source) => {
  expect(idsIn(source)).toEqual([])
})

test('what stands in brackets at the beginning is an id, however it is spelt', () => {
  expect(idsIn(`test('[one-1] works', () => {})`)).toEqual(['one-1'])
  expect(idsIn(`test('host [::1] works', () => {})`)).toEqual([])
})

test('a title that only a run would show is marked', () => {
  expect(titlesOf(`test(titleOf(1), () => {})`)).toEqual([{ text: undefined, ids: [] }])
})
