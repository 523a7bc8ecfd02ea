import { setTimeout } from 'node:timers/promises'
import { Pool } from 'pg'
import { postgresStore } from 'express-authorization-server/postgres'
import { random22 } from './records'

/** What the program is told by its only argument. */
export interface RivalPlan {
  readonly url: string
  readonly key: string
  readonly stored: string
  /** When all rivals begin. */
  readonly at: number
}

async function run({ url, key, stored, at }: RivalPlan): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 16 })
  const store = postgresStore({ pool })
  // Its first create brings it the time of the database.
  await store.write(`warm:${random22()}`, '1', { version: random22(), seconds: 60 })
  await setTimeout(at - Date.now())
  const parallel = <T>(act: () => Promise<T>) => Promise.all(Array.from({ length: 64 }, act))
  const [created, replaced, counts] = await Promise.all([
    parallel(() => store.write(`${key}:new`, '1', { version: random22() })),
    parallel(() => store.write(key, '1', { version: random22(), expected: stored })),
    parallel(() => store.add(key, 1, 60)),
  ])
  const won = (outcomes: readonly boolean[]) => outcomes.filter(Boolean).length
  console.log(
    JSON.stringify({
      created: won(created),
      replaced: won(replaced),
      counts: counts.map(({ count }) => count),
    }),
  )
  await pool.end()
}

void run(JSON.parse(process.argv[2] ?? ''))
