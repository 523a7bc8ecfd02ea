import { basename } from 'node:path'
import { format, resolveConfig } from 'prettier'
import type { Conformance } from './conformance'
import { pageOfConformance, readRequirement } from './requirements'

const [heading, delimiter] = [/^\| id +\| strength +\| rule +\|/, /^\| -+ +\| -+ +\| -+ +\|/]

/** The page with the tests of each requirement in the last column; the rest stays as it is. */
export async function conformancePage(page: string, { testsOf }: Conformance): Promise<string> {
  const rows = page.split('\n').map((line) => {
    if (heading.test(line)) return '| id | strength | rule | tests |'
    if (delimiter.test(line)) return '| - | - | - | - |'
    const requirement = readRequirement(line)
    if (requirement === undefined) return line
    const { id, strength, rule } = requirement
    return `| ${id} | ${strength} | ${rule} | ${linksTo(testsOf(id))} |`
  })
  const options = await resolveConfig(pageOfConformance)
  return format(rows.join('\n'), { ...options, parser: 'markdown' })
}

function linksTo(files: readonly string[]): string {
  const links = files.map((file) => `[${basename(file, '.test.ts')}](../../${file})`)
  return links.length > 0 ? links.join(', ') : '**none**'
}
