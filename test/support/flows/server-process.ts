import { redisStore } from '../../../lib/index'
import { application } from './application'

/** What the program is told by its only argument. */
export interface ServerPlan {
  readonly redisUrl: string
  readonly prefix: string
  readonly refreshTokenGrace?: number
  /** By how many seconds its clock is ahead. */
  readonly ahead?: number
}

/**
 * The canonical host application as a program. It tells its port, and ends when whoever started it is gone. Generated
 * secrets differ from process to process, so it is for clients without one or with one that was chosen.
 */
function serve({ redisUrl, prefix, refreshTokenGrace = 30, ahead = 0 }: ServerPlan): void {
  const clock = () => Date.now() + ahead * 1000
  const store = redisStore({ url: redisUrl, prefix, clock })
  // A machine under load is not a store in trouble.
  const { app } = application({ store, clock, refreshTokenGrace, storeDeadline: 10 })
  const server = app.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address !== null && typeof address === 'object') process.stdout.write(`port ${address.port}\n`)
  })
  process.stdin.resume().on('close', () => process.exit())
}

serve(JSON.parse(process.argv[2] ?? '{}'))
