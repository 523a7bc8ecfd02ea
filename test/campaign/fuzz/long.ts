import { startRedis } from '../../support/redis-server'
import { report, type Row } from '../../support/reliability/report'
import { fuzz, requestsOfFuzz, seedOfFuzz, type FuzzResult } from './fuzz'
import { planOfMemory, type FuzzPlan } from './parties'
import { startFuzzServer } from './start-fuzz-server'

/** The fuzzer in its long form, as a program: four fifths of the requests on the memory store, the rest on Redis. */
async function main(): Promise<void> {
  const seed = seedOfFuzz()
  const requests = requestsOfFuzz(100_000)
  process.stdout.write(`FUZZ_SEED=${seed} FUZZ_REQUESTS=${requests}\n`)
  const rows = [await play('memory store', planOfMemory, seed, Math.ceil(requests * 0.8))]
  const redis = await startRedis()
  try {
    const plan = { ...planOfMemory, redis: { url: redis.url } }
    rows.push(await play('Redis', plan, seed, Math.ceil(requests * 0.2)))
  } finally {
    await redis.stop()
  }
  report('fuzz', 'npm run test:fuzz', rows)
}

async function play(title: string, plan: FuzzPlan, seed: number, requests: number): Promise<Row> {
  const server = await startFuzzServer(plan)
  try {
    const result = await fuzz(server, { seed, requests, timeMoves: plan.redis === undefined, patience: 50 })
    return rowOf(title, result)
  } finally {
    await server.stop()
  }
}

function rowOf(
  title: string,
  { complaints, statuses, won, memory, handles, requests, seed }: FuzzResult,
): Row {
  for (const [complaint, story] of complaints) process.stdout.write(`${complaint}\n${story}\n\n`)
  if (complaints.size > 0) process.exitCode = 1
  const seen = Object.entries(statuses).map(([status, times]) => `${status}: ${times}`)
  const result = [
    `seed ${seed}`,
    complaints.size === 0 ? 'held' : `${complaints.size} complaints`,
    `${won} still good`,
    `by status ${seen.join(', ')}`,
    `memory ${megabytes(memory[2])} MB after warming up, ${megabytes(memory.at(-1))} MB at the end`,
    `handles ${handles[2]} and ${handles.at(-1)}`,
  ].join('; ')
  process.stdout.write(`${title}: ${requests} requests; ${result}\n`)
  const invariant =
    'no 5xx, no hang, no echo, no unregistered redirect, no forbidden success, nothing left behind'
  return { case: title, rounds: requests, invariant, result }
}

const megabytes = (bytes = 0) => (bytes / 1e6).toFixed(1)

void main()
