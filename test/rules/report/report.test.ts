import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { conformance } from './conformance'
import { pageOfConformance } from './requirements'

/** Puts an id in the place of @1, so that none here passes for one of this file. */
const planted = (text: string): string => text.replaceAll(/@(\d)/g, '[ONE-$1]')

const root = join(__dirname, '../../..')
const list = `## ONE: first\n\n| id | strength | rule |\n| - | - | - |\n| ONE-1 | must | It works. |\n| ONE-2 | may | It can be off. |\n`
const file = 'test/rules/one.test.ts'
const tests = planted(`test('@1 it works', () => {})\ntest('@2 it can be off', () => {})\n`)
const faultsOf = (requirements: string, source: string): readonly string[] =>
  conformance(requirements, new Map([[file, planted(source)]])).faults

test('a list of which each id has a test is a proof', () => {
  const { faults, testsOf } = conformance(list, new Map([[file, tests]]))
  expect(faults).toEqual([])
  expect(testsOf('ONE-2')).toEqual([file])
})

test.each([
  ['an id without a test', list + '| ONE-3 | must | It is new. |\n', tests, 'ONE-3 has no test'],
  ['an id that is not in the list', list, tests + "test('@9 it is not', () => {})", `${file} names @9`],
  ['an id in another spelling', list, tests + "test('[one-1] it is', () => {})", `${file} names [one-1]`],
  ['an id that is there twice', list + '| ONE-1 | may | Again. |\n', tests, 'ONE-1 stands in'],
  ['an id without a strength', list.replace('may', 'perhaps'), tests, 'ONE-2 has no strength'],
  ['an id without a rule', list.replace('It works.', ''), tests, 'ONE-1 has no strength or no rule'],
  ['a title that cannot be read', list, tests + 'test(titleOf(1), () => {})', `${file} has a title`],
])('%s is a fault', (_, requirements, source, fault) => {
  expect(faultsOf(requirements, source)).toEqual([expect.stringContaining(planted(fault))])
})

test('an empty list is a fault, whatever the tests say', () => {
  expect(faultsOf('', '')).toEqual([`${pageOfConformance} lists nothing.`])
})

describe('The command', () => {
  let copy: string
  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), 'conformance-'))
    for (const folder of ['docs/reports', 'test/rules']) mkdirSync(join(copy, folder), { recursive: true })
    writeFileSync(join(copy, pageOfConformance), list)
    writeFileSync(join(copy, file), tests)
  })
  afterEach(() => rmSync(copy, { recursive: true }))

  function run(...words: readonly string[]): { readonly status: number | null; readonly output: string } {
    const program = ['-r', 'esbuild-register', 'test/rules/report.ts', ...words, copy]
    const { status, stderr } = spawnSync(process.execPath, program, { cwd: root, encoding: 'utf8' })
    return { status, output: stderr }
  }

  test('writes the page, with links to the tests, and finds it up to date then', () => {
    expect(run()).toEqual({ status: 0, output: '' })
    expect(readFileSync(join(copy, pageOfConformance), 'utf8')).toMatch(
      /^\| ONE-1 \| must +\| It works\. +\| \[one\]\(\.\.\/\.\.\/test\/conformance\/one\.test\.ts\) \|$/m,
    )
    expect(run('--check')).toEqual({ status: 0, output: '' })
  })

  test('fails where the page is old, and leaves it as it is', () => {
    expect(run('--check')).toMatchObject({
      status: 1,
      output: expect.stringContaining('npm run conformance'),
    })
    expect(readFileSync(join(copy, pageOfConformance), 'utf8')).toBe(list)
  })

  test('fails where an id has no test, and where a test has an unknown one', () => {
    writeFileSync(join(copy, file), tests.replace('ONE-2', 'ONE-9'))
    for (const words of [[], ['--check']]) {
      const { status, output } = run(...words)
      expect(status).toBe(1)
      expect(output).toContain('ONE-2 has no test')
      expect(output).toContain(planted('names @9'))
    }
  })
})
