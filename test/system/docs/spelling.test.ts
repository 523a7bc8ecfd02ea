import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pagesOfRepository, proseOf } from '../../support/docs/pages'
import { suspicionsIn, wordsOf } from '../../support/docs/spelling'

const root = join(__dirname, '../../..')
const lines = readFileSync(join(__dirname, 'accepted-words.txt'), 'utf8').split('\n')
const accepted = new Set(lines.filter((line) => line !== '' && !line.startsWith('#')))
// A word that the sources use in two files is no slip.
for (const word of wordsInTwo(sourcesIn('lib', 'test'))) accepted.add(word)
const words = pagesOfRepository().flatMap((page) => wordsOf(proseOf(page)))

test('no document has a word that is one letter away from a frequent one', () => {
  expect(suspicionsIn(words, accepted)).toEqual([])
})

test.each([
  ['a letter too many', 'authorizzation'],
  ['a letter too few', 'athorization'],
  ['a wrong letter', 'autherization'],
  ['two letters in the wrong order', 'auhtorization'],
])('the check finds %s', (_, slip) => {
  expect(suspicionsIn([...words, slip], accepted)).toEqual([{ word: slip, meant: 'authorization' }])
})

function sourcesIn(...folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
      .map((file) => readFileSync(join(root, folder, file), 'utf8')),
  )
}

function wordsInTwo(sources: readonly string[]): ReadonlySet<string> {
  const [once, twice] = [new Set<string>(), new Set<string>()]
  for (const source of sources)
    for (const word of new Set(source.toLowerCase().match(/[a-z]{5,}/g)))
      if (once.has(word)) twice.add(word)
      else once.add(word)
  return twice
}
