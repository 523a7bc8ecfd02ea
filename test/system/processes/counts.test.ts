import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { requireNode } from '../../support/nodes'

interface Counted {
  readonly name: string
  readonly row: string
  readonly promises: number
  readonly timers: number
  readonly kibibytes: number
}

const root = join(__dirname, '../../..')
/** For the heap of another patch of Node, and for what V8 compiles late. */
const room = 1.03

/** The most that one operation makes. Budgets only go down: who saves something lowers its row, and nobody raises one. */
const budgets = [
  { name: 'ours', row: 'client credentials', promises: 16, timers: 0, kibibytes: 28.4 },
  { name: 'ours', row: 'code flow', promises: 81, timers: 0, kibibytes: 156.5 },
  { name: 'ours', row: 'refresh', promises: 19, timers: 0, kibibytes: 36.7 },
  { name: 'ours', row: 'guard', promises: 11, timers: 0, kibibytes: 23.4 },
  { name: 'ours, approved before', row: 'code flow', promises: 44, timers: 0, kibibytes: 67 },
]

let counted: readonly Counted[]
beforeAll(() => {
  const words = [
    '-r',
    'esbuild-register',
    'bench/counts.ts',
    '--json',
    ...new Set(budgets.map(({ name }) => name)),
  ]
  // Counts of heap belong to one version of Node.
  const env = { ...process.env, BENCH_NODES: requireNode(24) }
  counted = JSON.parse(execFileSync(process.execPath, words, { cwd: root, env, encoding: 'utf8' }))
})

test('every operation that is counted has a budget', () => {
  const pairs = (rows: readonly Pick<Counted, 'name' | 'row'>[]) =>
    rows.map(({ name, row }) => ({ name, row }))
  expect(pairs(counted)).toEqual(pairs(budgets))
})

describe.each(budgets)('$row of $name', ({ name, row, promises, timers, kibibytes }) => {
  const made = () => counted.find((one) => one.name === name && one.row === row)

  test(`one operation makes ${promises} promises at most`, () => {
    expect(made()?.promises).toBeLessThanOrEqual(promises)
  })

  test(`one operation makes ${timers} timers of its own at most`, () => {
    expect(made()?.timers).toBeLessThanOrEqual(timers)
  })

  test(`one operation allocates ${kibibytes} KiB of heap at most, with room for 3 %`, () => {
    expect(made()?.kibibytes).toBeLessThanOrEqual(kibibytes * room)
  })
})
