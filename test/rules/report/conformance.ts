import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pageOfConformance, readRequirements, type Requirement } from './requirements'
import { titlesOf } from './titles'

/** Sources of tests by their path from the root of the project. */
export type Sources = ReadonlyMap<string, string>

/** Which tests prove which requirement. */
export interface Conformance {
  readonly requirements: readonly Requirement[]
  /** The files of the tests that name an id. */
  readonly testsOf: (id: string) => readonly string[]
  /** What keeps the list and the tests from being a proof, each with its cure. */
  readonly faults: readonly string[]
}

const folder = 'test/rules'

/** Holds the list of requirements against the titles of the tests. */
export function conformance(page: string, sources: Sources): Conformance {
  const requirements = readRequirements(page)
  const titles = [...sources].flatMap(([file, source]) =>
    titlesOf(source).map((title) => ({ file, text: title.text, ids: title.ids })),
  )
  const testsOf = (id: string) => [
    ...new Set(titles.filter(({ ids }) => ids.includes(id)).map(({ file }) => file)),
  ]
  const known = new Set(requirements.map(({ id }) => id))
  const unknown = titles.flatMap(({ file, text, ids }) =>
    ids
      .filter((id) => !known.has(id))
      .map((id) => `${file} names [${id}], which ${pageOfConformance} does not have: "${text}".`),
  )
  const unread = titles
    .filter(({ text }) => text === undefined)
    .map(({ file }) => `${file} has a title that is no text where it stands; write it there.`)
  return {
    requirements,
    testsOf,
    faults: [
      ...new Set([...faultsOfList(requirements), ...unread, ...unknown, ...untested(requirements, testsOf)]),
    ],
  }
}

function faultsOfList(requirements: readonly Requirement[]): readonly string[] {
  const ids = requirements.map(({ id }) => id)
  return [
    ...(ids.length === 0 ? [`${pageOfConformance} lists nothing.`] : []),
    ...ids
      .filter((id, index) => ids.indexOf(id) < index)
      .map((id) => `${id} stands in ${pageOfConformance} twice.`),
    ...requirements
      .filter(({ strength, rule }) => strength === '' || rule === '')
      .map(({ id }) => `${id} has no strength or no rule in ${pageOfConformance}.`),
  ]
}

function untested(requirements: readonly Requirement[], testsOf: Conformance['testsOf']): readonly string[] {
  return requirements
    .filter(({ id }) => testsOf(id).length === 0)
    .map(({ id }) => `${id} has no test: name [${id}] in the title of one in ${folder}.`)
}

/** The conformance of the project in this folder. */
export function conformanceOf(root: string): Conformance {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    .toSorted()
  const read = (file: string): string => readFileSync(join(root, file), 'utf8')
  return conformance(read(pageOfConformance), new Map(files.map((file) => [file, read(file)])))
}
