import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { plansFrom, titleOf, topologies } from './plan'
import { Runner } from './runner'

const usage = `npm run campaign -- [options]

  --seed N        the seed of the first run, and each next run has the next one; default: any
  --minutes N     how long; default 10
  --topology T    ${topologies.join(', ')} or all, which takes them in turn by the seed; default all
  --fault TEXT    passes over seeds whose plans have no fault with this text in its name
`

const options = {
  seed: { type: 'string', default: String(randomInt(1_000_000)) },
  minutes: { type: 'string', default: '10' },
  topology: { type: 'string', default: 'all' },
  fault: { type: 'string', default: '' },
} as const

async function main(): Promise<void> {
  const { fault, ...values } = parseArgs({ options }).values
  const [seed, minutes] = [Number(values.seed), Number(values.minutes)]
  const topology = topologies.find((each) => each === values.topology)
  if (Number.isNaN(seed + minutes) || (topology === undefined && values.topology !== 'all'))
    throw new Error(usage)
  const runner = new Runner()
  const over = performance.now() + minutes * 60_000
  try {
    for (const plan of plansFrom({ seed, topology, fault })) {
      process.stdout.write(`${titleOf(plan)}\n`)
      const { broken, ...counts } = await runner.play(plan)
      process.stdout.write(`${[`  ${JSON.stringify(counts)}`, ...broken].join('\n  ')}\n`)
      if (broken.length > 0) process.exitCode = 1
      if (performance.now() > over) break
    }
  } finally {
    await runner.close()
  }
}

void main()
