import { basename } from 'node:path'
import { format, resolveConfig } from 'prettier'
import type { Conformance } from './conformance'
import type { Requirement } from './requirements'

export const pageOfConformance = 'docs/conformance.md'

const beginning = `# Conformance

Each [requirement](requirements.md), and the tests that prove it. This page is written by \`npm run conformance\` from the list and from the titles of the tests; \`npm run check\` fails when it is not up to date, when a requirement has no test, or when a title names one that is not in the list.
`

/** The page that shows where each requirement is proven. */
export async function conformancePage({ requirements, testsOf }: Conformance): Promise<string> {
  const chapters = [...new Set(requirements.map(({ chapter }) => chapter))]
  const sections = chapters.map((chapter) => {
    const rows = requirements
      .filter((one) => one.chapter === chapter)
      .map((one) => rowOf(one, testsOf(one.id)))
    return `\n## ${chapter}\n\n| id | strength | rule | tests |\n| - | - | - | - |\n${rows.join('\n')}\n`
  })
  const options = await resolveConfig(pageOfConformance)
  return format(beginning + sections.join(''), { ...options, parser: 'markdown' })
}

function rowOf({ id, strength, rule }: Requirement, files: readonly string[]): string {
  const links = files.map((file) => `[${basename(file, '.test.ts')}](../${file})`)
  return `| ${id} | ${strength} | ${rule} | ${links.length > 0 ? links.join(', ') : '**none**'} |`
}
