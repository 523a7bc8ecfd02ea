import { isRecord } from '../../primitives/values'
import type { WarningCode } from '../../protocol/warning-code'
import { clockWarning } from '../../store/clock-warning'
import type { StoreWarning } from '../../store/store'
import { type PostgresPool, type Row, textIn, wholeIn } from './pool'

/** @param before and `after`: this process's time around the statement. */
export function warningsOf(
  row: Row | undefined,
  pool: PostgresPool,
  { before, after }: { readonly before: number; readonly after: number },
): readonly StoreWarning[] {
  const readings = { before, there: wholeIn(row, 'clock'), after }
  const clock = clockWarning('EAS_POSTGRES_CLOCK', 'PostgreSQL', readings)
  const missing = missingTimeouts(pool).join(' and no ')
  const found: readonly (readonly [isSo: boolean, code: WarningCode, message: string])[] = [
    [
      textIn(row, 'standby') === 'true',
      'EAS_POSTGRES_STANDBY',
      'The pool is connected to a standby, which refuses every write, and whose data may be out of date. Connect it to the primary.',
    ],
    [
      textIn(row, 'commit') === 'off',
      'EAS_POSTGRES_COMMIT',
      'synchronous_commit is off: a crash of PostgreSQL brings back a revoked token, or a code that was redeemed. Set it to on for the role or the database of the pool.',
    ],
    [
      missing !== '',
      'EAS_POSTGRES_TIMEOUT',
      `The pool has no ${missing}: a dead connection holds its place for many minutes, until none is left. Set 1000 and 2000 (milliseconds), or your own.`,
    ],
  ]
  const warnings = found.flatMap(([isSo, code, message]) => (isSo ? [{ code, message }] : []))
  return clock === undefined ? warnings : [...warnings, clock]
}

/** Only of a pool that shows its options, as that of pg does. */
function missingTimeouts(pool: object): readonly string[] {
  const { options }: { options?: unknown } = pool
  if (!isRecord(options) || !('max' in options)) return []
  return ['connectionTimeoutMillis', 'query_timeout'].filter((name) => !options[name])
}
