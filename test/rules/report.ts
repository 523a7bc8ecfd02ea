import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { conformanceOf } from './report/conformance'
import { conformancePage } from './report/page'
import { pageOfConformance } from './report/requirements'

/**
 * Writes the tests into docs/reports/conformance.md, or with `--check` only looks whether they are up to date. It fails, either way, when a
 * requirement has no test or a test names an unknown one. Another root can be named for its tests.
 */
async function report(words: readonly string[]): Promise<readonly string[]> {
  const check = words.includes('--check')
  const [root = join(__dirname, '../..'), ...rest] = words.filter((word) => word !== '--check')
  if (rest.length > 0)
    return [`What is ${rest.join(' ')}? The only words are --check and the root of a project.`]
  const conformance = conformanceOf(root)
  const file = join(root, pageOfConformance)
  const before = readFileSync(file, 'utf8')
  const page = await conformancePage(before, conformance)
  if (!check) writeFileSync(file, page)
  const stale = check && before !== page
  return stale
    ? [...conformance.faults, `${pageOfConformance} is not up to date: npm run conformance.`]
    : conformance.faults
}

void report(process.argv.slice(2)).then((faults) => {
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  if (faults.length > 0) process.exitCode = 1
})
