// The mutations that the tests of the requirements, and of some attacks, must notice.
//
//   npm run mutations               breaks the code once for each, and runs the tests of its requirement: about an hour
//   npm run mutations -- TKN-1      those of one requirement
//   npm run mutations -- --places   looks whether each can still be made: a second
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mutations } from './mutations/all'
import { Copy, librarySources } from './mutations/copy'
import type { Mutation } from './mutations/mutation'
import { placeOf } from './mutations/place'
import { conformanceOf } from './rules/report/conformance'

const root = join(__dirname, '..')
const { requirements, testsOf: testsOfRequirement } = conformanceOf(root)

/** The files of the tests that name a requirement, or an attack of docs/reports/security.md. */
function testsOf(id: string): readonly string[] {
  if (requirements.some((requirement) => requirement.id === id)) return testsOfRequirement(id)
  return testFiles().filter((file) =>
    new RegExp(`\\[(?:[^\\]]*, )?${id}[,\\]]`).test(readFileSync(join(root, file), 'utf8')),
  )
}

function testFiles(): readonly string[] {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.test.ts')).map((file) => join('test', file))
}

/** Breaks the code once for each mutation, in copies of the project, and tells which the tests do not notice. */
async function run(words: readonly string[]): Promise<readonly string[]> {
  const chosen = mutations.filter(([id]) => words.length === 0 || words.includes(id))
  const unknown = words.filter(
    (word) => !requirements.some(({ id }) => id === word) && testsOf(word).length === 0,
  )
  const untold = requirements
    .map(({ id }) => id)
    .filter((id) => (words.length === 0 || words.includes(id)) && !chosen.some(([one]) => one === id))
  // Tests that fail on sound code would pass for tests that notice.
  const sound = await soundOutcome(chosen.flatMap(([id]) => testsOf(id)))
  if (sound !== 'green') return [`The tests are not green before anything is broken: ${sound}.`]
  const waiting = [...chosen.entries()].toReversed()
  const faults: string[] = []
  const work = async (): Promise<void> => {
    const copy = Copy.of(root)
    try {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const [index, mutation] = next
        const outcome = await outcomeOf(copy, mutation)
        process.stdout.write(`${index + 1}/${chosen.length} ${mutation[0]} ${mutation[1]}: ${outcome}\n`)
        if (outcome !== 'red') faults.push(`${mutation[0]} ${mutation[1]}: ${outcome}: ${mutation[2]}`)
      }
    } finally {
      copy.remove()
    }
  }
  await Promise.all([work(), work()])
  return [
    ...unknown.map((word) => `${word} is neither a requirement nor an attack with a test.`),
    ...untold.map((id) => `${id} has no mutation.`),
    ...faults,
  ]
}

async function soundOutcome(files: readonly string[]): Promise<string> {
  const copy = Copy.of(root)
  try {
    return files.length === 0 ? 'green' : await copy.outcomeOf([...new Set(files)])
  } finally {
    copy.remove()
  }
}

/** What the tests of a requirement say of a mutation: `red` is right, and everything else a fault. */
async function outcomeOf(copy: Copy, [id, declaration, text, replacement]: Mutation): Promise<string> {
  const tests = testsOf(id)
  if (tests.length === 0) return 'no test'
  const restore = copy.mutate(declaration, text, replacement)
  if (restore === undefined) return 'moved'
  try {
    return await copy.outcomeOf(tests, id)
  } finally {
    restore()
  }
}

/** The mutations whose text has moved away or was rewritten. */
function moved(): readonly string[] {
  const sources = librarySources(root)
  return mutations
    .filter(([, declaration, text]) => placeOf(sources, declaration, text) === undefined)
    .map(([id, declaration, text]) => `${id} ${declaration}: moved: ${text}`)
}

const [first, ...words] = process.argv.slice(2)
const outcome =
  first === '--places' ? Promise.resolve(moved()) : run(first === undefined ? [] : [first, ...words])
void outcome.then((faults) => {
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  if (faults.length > 0) process.exitCode = 1
})
