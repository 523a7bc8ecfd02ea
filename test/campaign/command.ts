import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { plansFrom, titleOf, topologies, type RunPlan } from './plan'
import type { Outcome } from './run'
import { Runner } from './runner'

const usage = `npm run campaign -- [options]

  --seed N        the seed of the first run, and each next run has the next one; default: any
  --minutes N     how long; default 10
  --runs N        how many runs instead
  --topology T    ${topologies.join(', ')} or all, which takes them in turn by the seed; default all
  --fault TEXT    passes over seeds whose plans have no fault with this text in its name
`

const options = {
  seed: { type: 'string', default: String(randomInt(1_000_000)) },
  minutes: { type: 'string', default: '10' },
  runs: { type: 'string', default: 'Infinity' },
  topology: { type: 'string', default: 'all' },
  fault: { type: 'string', default: '' },
} as const

const say = (text: string) => process.stdout.write(`${text}\n`)

async function main(): Promise<void> {
  const { values } = parseArgs({ options })
  const [seed, minutes, runs] = [Number(values.seed), Number(values.minutes), Number(values.runs)]
  const topology = topologies.find((each) => each === values.topology)
  if ([seed, minutes, runs].some(Number.isNaN) || (topology === undefined && values.topology !== 'all')) {
    process.stdout.write(usage)
    process.exitCode = 2
    return
  }
  const runner = new Runner()
  const outcomes: Outcome[] = []
  const over = performance.now() + (runs === Infinity ? minutes * 60_000 : Infinity)
  try {
    for (const plan of plansFrom({ seed, topology, fault: values.fault })) {
      say(titleOf(plan))
      const outcome = await playOne(runner, plan)
      outcomes.push(outcome)
      say(`  ${countsOf([outcome])}`)
      for (const each of outcome.broken) say(`  ${each}`)
      if (outcomes.length >= runs || performance.now() > over) break
    }
  } finally {
    await runner.close()
  }
  say(countsOf(outcomes))
  if (outcomes.some(({ broken }) => broken.length > 0)) process.exitCode = 1
}

/** A run that cannot be brought to its end has shown something, too. */
async function playOne(runner: Runner, plan: RunPlan): Promise<Outcome> {
  try {
    return await runner.play(plan)
  } catch (error) {
    const why = error instanceof Error ? error.stack : String(error)
    const nothing = { requests: 0, hostile: 0, good: 0, troubled: 0, late: 0 }
    return { plan, ...nothing, broken: [`the run did not come to its end: ${why}`] }
  }
}

function countsOf(outcomes: readonly Outcome[]): string {
  const sum = (count: 'requests' | 'hostile' | 'good' | 'troubled' | 'late') =>
    outcomes.reduce((all, outcome) => all + outcome[count], 0)
  const broken = outcomes.reduce((all, outcome) => all + outcome.broken.length, 0)
  return [
    `${outcomes.length} runs, ${sum('requests')} requests and ${sum('hostile')} hostile ones`,
    `${sum('good')} of these still good, ${sum('troubled')} answers of trouble, ${sum('late')} late writes`,
    broken === 0 ? 'no promise broken' : `BROKEN ${broken} times`,
  ].join(', ')
}

void main()
