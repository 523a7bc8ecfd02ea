import { isRecord } from '../../primitives/values'
import type { WarningCode } from '../../protocol/warning-code'
import type { StoreWarning } from '../store'
import { type PostgresPool, type Row, textIn, wholeIn } from './pool'

interface PostgresWarning extends StoreWarning {
  readonly code: WarningCode
}

/** @param before and `after`: this process's time around the statement. */
export function warningsOf(
  row: Row | undefined,
  pool: PostgresPool,
  { before, after }: { readonly before: number; readonly after: number },
): readonly PostgresWarning[] {
  const warnings = [
    standbyOf(textIn(row, 'standby')),
    commitOf(textIn(row, 'commit')),
    timeoutsOf(pool),
    // PostgreSQL read its clock between the two.
    clockOf(before - wholeIn(row, 'clock'), wholeIn(row, 'clock') - after),
  ]
  return warnings.filter((warning) => warning !== undefined)
}

function standbyOf(standby: string): PostgresWarning | undefined {
  if (standby !== 'true') return undefined
  const message =
    'The pool is connected to a standby, which refuses every write, and whose data may be out of date. Connect it to the primary.'
  return { code: 'EAS_POSTGRES_STANDBY', message }
}

function commitOf(setting: string): PostgresWarning | undefined {
  if (setting !== 'off') return undefined
  const message =
    'synchronous_commit is off: a crash of PostgreSQL brings back a revoked token, or a code that was redeemed. Set it to on for the role or the database of the pool.'
  return { code: 'EAS_POSTGRES_COMMIT', message }
}

/** Only for a pool that shows its options, as those of pg do. */
function timeoutsOf(pool: object): PostgresWarning | undefined {
  const { options }: { options?: unknown } = pool
  if (!isRecord(options) || !('max' in options)) return undefined
  const missing = ['connectionTimeoutMillis', 'query_timeout'].filter((name) => !options[name])
  if (missing.length === 0) return undefined
  const message = `The pool has no ${missing.join(' and no ')}: a dead connection holds its place for many minutes, until none is left. Set 1000 and 2000 (milliseconds), or your own.`
  return { code: 'EAS_POSTGRES_TIMEOUT', message }
}

const millisecondsApart = 5000

function clockOf(behind: number, ahead: number): PostgresWarning | undefined {
  const apart = Math.max(behind, ahead)
  if (apart <= millisecondsApart) return undefined
  const direction = behind > ahead ? 'ahead of' : 'behind'
  const message = `The clock of this process is ${Math.round(apart / 1000)} s ${direction} that of PostgreSQL. Tokens begin and end by the clocks of the processes that issue and guard them: synchronize all of these clocks, with NTP.`
  return { code: 'EAS_POSTGRES_CLOCK', message }
}
