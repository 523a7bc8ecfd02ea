// Writes the tests into docs/reports/conformance.md, or with `--check` only looks whether they are up to date. It fails,
// either way, when a rule or an attack has no test, a rule has two files, or a test names what no page has.
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { conformanceOf, pageOfConformance, readRequirement, type Conformance } from './report/conformance'

const [heading, delimiter] = [/^\| id +\| strength +\| rule +\|/, /^\| -+ +\| -+ +\| -+ +\|/]

/** The page with the tests of each rule in the last column; the rest stays as it is. */
async function withTests(page: string, { testsOf }: Conformance): Promise<string> {
  const rows = page.split('\n').map((line) => {
    if (heading.test(line)) return '| id | strength | rule | tests |'
    if (delimiter.test(line)) return '| - | - | - | - |'
    const requirement = readRequirement(line)
    if (requirement === undefined) return line
    const links = testsOf(requirement.id).map((file) => `[${basename(file, '.test.ts')}](../../${file})`)
    const { id, strength, rule } = requirement
    return `| ${id} | ${strength} | ${rule} | ${links.join(', ') || '**none**'} |`
  })
  const options = await resolveConfig(pageOfConformance)
  return format(rows.join('\n'), { ...options, parser: 'markdown' })
}

async function report(check: boolean): Promise<readonly string[]> {
  const root = join(__dirname, '../..')
  const conformance = conformanceOf(root)
  const file = join(root, pageOfConformance)
  const before = readFileSync(file, 'utf8')
  const page = await withTests(before, conformance)
  if (!check) writeFileSync(file, page)
  const stale = check && before !== page
  return stale
    ? [...conformance.faults, `${pageOfConformance} is not up to date: npm run conformance.`]
    : conformance.faults
}

void report(process.argv.includes('--check')).then((faults) => {
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  if (faults.length > 0) process.exitCode = 1
})
