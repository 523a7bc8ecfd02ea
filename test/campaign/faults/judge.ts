import { availabilityViolations } from './availability'
import {
  grantedBy,
  groupsOf,
  knownBefore,
  overlaps,
  type Act,
  type Attempt,
  type History,
  type Loss,
} from './history'
import { Line } from './line'

/** What was promised and not kept, with the attempt that shows it. */
export interface Violation {
  readonly rule: string
  readonly attempt: Attempt
}

/**
 * Holds a history against the promises. An attempt that ended in trouble may or may not have happened, at any time since
 * it was sent; so nothing is concluded from it, and whatever it may have done is allowed to have been done.
 */
export function judge(history: History): readonly Violation[] {
  return [...consistencyViolations(history), ...availabilityViolations(history)]
}

/** What is wrong at whatever speed: nothing here depends on how long anything took. */
export function consistencyViolations(
  history: Omit<History, 'faults' | 'standstills' | 'bound'>,
): readonly Violation[] {
  const inOrder = history.attempts.toSorted((one, other) => one.sentAt - other.sentAt)
  return groupsOf(inOrder, ({ line }) => line).flatMap((attempts) =>
    violationsOf(new Line(attempts), history),
  )
}

type Facts = Parameters<typeof consistencyViolations>[0]

function violationsOf(line: Line, history: Facts): Violation[] {
  const undone = history.losses.some(
    (loss) => loss.of === 'some' && concerns(loss, line) && mayHaveUndone(line, loss),
  )
  const rules = undone ? [forkRule, strangerRule] : [winRule, strangerRule, endRule, rotationRule, lossRule]
  const outdated = history.losses.filter((loss) => loss.of === 'news' || loss.of === 'reads')
  return line.attempts.flatMap((attempt) => {
    // What only guards may not have left such a server yet. It must, before the span ends.
    if (outdated.some((loss) => mayMiss(attempt, loss) && overlaps(attempt, loss))) return []
    const rule = rules.map((check) => check(line, attempt, history)).find((broken) => broken !== undefined)
    return rule === undefined ? [] : [{ rule, attempt }]
  })
}

type Rule = (line: Line, attempt: Attempt, history: Facts) => string | undefined

const succeeded = ({ answer }: Attempt): boolean => answer.kind === 'granted' || answer.kind === 'accepted'
const sameGrant = (one: Attempt, other: Attempt): boolean =>
  grantedBy(one).join(' ') === grantedBy(other).join(' ')

const writes: ReadonlySet<Act> = new Set<Act>([
  'ask',
  'decide',
  'redeem',
  'refresh',
  'revoke',
  'revokeOwn',
  'grant',
  'register',
  'unregister',
])
const reads: ReadonlySet<Act> = new Set<Act>(['guard', 'introspect', 'exchange', 'configure', 'authenticate'])
/** What begins a line: it presents nothing. */
const beginnings: ReadonlySet<Act> = new Set<Act>(['ask', 'grant', 'register'])

const mayMiss = ({ act }: Attempt, { of }: Loss): boolean =>
  act === 'guard' || (of === 'reads' && reads.has(act))

const concerns = ({ registrationsOnly = false }: Loss, { attempts: [first] }: Line): boolean =>
  !registrationsOnly || first?.act === 'register'

/** A request that writes, acknowledged or not, during the span: a failover may have undone what it did. */
function mayHaveUndone(line: Line, { from, to }: Loss): boolean {
  return line.attempts.some(
    ({ act, sentAt, answeredAt }) => writes.has(act) && answeredAt >= from && sentAt <= to,
  )
}

const winRule: Rule = (line, attempt) => {
  const [first] = line.winsOf(attempt.presented)
  if (first === undefined || first === attempt || attempt.answer.kind !== 'granted') return undefined
  if (attempt.act === 'refresh')
    return sameGrant(first, attempt) ? undefined : 'a refresh generation won twice'
  if (attempt.act === 'redeem') return 'a code won twice'
  return attempt.act === 'decide' && !sameGrant(first, attempt) ? 'a question was answered twice' : undefined
}

const strangerRule: Rule = (line, attempt) =>
  succeeded(attempt) && !beginnings.has(attempt.act) && line.originOf(attempt.presented) === undefined
    ? 'a credential that was never issued was accepted'
    : undefined

const endRule: Rule = (line, attempt, { losses }) =>
  succeeded(attempt) &&
  line.attempts.some((end) => line.isEnd(end) && knownBefore(end, attempt) && !mayBeVain(line, end, losses))
    ? 'a revoked credential was accepted'
    : undefined

/**
 * Whether the presented token may have expired by a wrong clock, and left its record. Its revocation then ends nothing,
 * as that of a token that the server never issued (RFC 7009 2.2).
 */
function mayBeVain(line: Line, end: Attempt, losses: readonly Loss[]): boolean {
  return (
    end.answer.kind === 'done' &&
    end.act !== 'unregister' &&
    losses.some(({ of, from, to }) => of === 'time' && line.attempts[0]!.sentAt < to && end.answeredAt > from)
  )
}

const rotationRule: Rule = (line, attempt) =>
  succeeded(attempt) && attempt.act === 'refresh' && line.isRotatedOut(attempt)
    ? 'a rotated-out token was accepted'
    : undefined

/** What was acknowledged is there, unless its client, or the loss of all data, may have ended it. */
const lossRule: Rule = (line, attempt, { losses, grace }) => {
  const origin = line.originOf(attempt.presented)
  if (origin === undefined) return undefined
  for (const { of, from, to } of losses.filter(
    (loss) => (loss.of === 'all' || loss.of === 'time') && line.attempts[0]!.sentAt < loss.to,
  )) {
    if (of === 'all' && succeeded(attempt) && origin.answeredAt <= from && attempt.sentAt >= to)
      return 'a credential was accepted although all data was gone'
    if (attempt.answeredAt > from) return undefined
  }
  if (attempt.answer.kind !== 'refused' || !knownBefore(origin, attempt)) return undefined
  const ended = line.attempts.some((end) => end.sentAt < attempt.answeredAt && line.mayEnd(end, grace))
  const used = line
    .usesOf(attempt.presented)
    .some((use) => use !== attempt && use.sentAt < attempt.answeredAt)
  if (ended || (used && attempt.act !== 'refresh')) return undefined
  if (attempt.act === 'refresh' && line.mayBeReuse(attempt, grace)) return undefined
  return `an acknowledged credential was lost (${attempt.act})`
}

/**
 * A failover that undoes acknowledged writes lets one credential win again. But a record has one line of life: what the
 * two wins brought is never good at the same time.
 */
const forkRule: Rule = (line, attempt) => {
  const wins = line.winsOf(attempt.presented)
  if (attempt !== wins[0]) return undefined
  const forks = groupsOf(wins, (win) => grantedBy(win).join(' '))
  const decided = Math.max(...forks.map(([win]) => win!.answeredAt))
  const alive = forks.filter(([win]) =>
    line.attempts.some(
      (later) => later.sentAt >= decided && succeeded(later) && grantedBy(win!).includes(later.presented),
    ),
  )
  return forks.length > 1 && alive.length > 1 ? 'two answers to one credential were good at once' : undefined
}
