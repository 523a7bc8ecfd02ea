import type { Act } from './acts'
import {
  grantedBy,
  groupsOf,
  knownBefore,
  overlaps,
  succeeded,
  type Attempt,
  type History,
  type Loss,
  type Span,
} from './history'
import { Line } from './line'
import type { Health } from './server'

/** What was promised and not kept, with the attempt that shows it. */
interface Violation {
  readonly rule: string
  readonly attempt: Attempt
}

/**
 * Holds a history against the promises. An attempt that ended in trouble may or may not have happened, at any time since
 * it was sent; so nothing is concluded from it, and whatever it may have done is allowed to have been done. Nothing
 * depends on how long anything took.
 *
 * @param outages when a process was dead or stopped: who waits for its answer then gets none.
 */
export function judge(history: History, outages: readonly Span[]): readonly Violation[] {
  const inOrder = history.attempts.toSorted((one, other) => one.sentAt - other.sentAt)
  const ofLines = groupsOf(inOrder, ({ line }) => line).flatMap((attempts) =>
    violationsOf(new Line(attempts, history.grace), history),
  )
  const others = inOrder.flatMap((attempt) => violation(attempt, inItself(attempt, history, outages)))
  return [...ofLines, ...others]
}

const violation = (attempt: Attempt, rule: string | undefined): readonly Violation[] =>
  rule === undefined ? [] : [{ rule, attempt }]

/** What is wrong with an answer whatever was answered before. */
function inItself(attempt: Attempt, { isCalm }: History, outages: readonly Span[]): string | undefined {
  const { answer } = attempt
  if (answer.kind === 'wrong') return `a wrong answer: ${answer.what}`
  if (answer.kind === 'trouble' && isCalm) return 'trouble although nothing was wrong'
  const isExplained = outages.some((outage) => overlaps(attempt, outage))
  return answer.kind === 'unanswered' && !isExplained ? 'no answer although the process lived' : undefined
}

function violationsOf(line: Line, history: History): readonly Violation[] {
  const undone = history.losses.some(
    (loss) => loss.of === 'some' && concerns(loss, line) && mayHaveUndone(line, loss),
  )
  const rules = undone ? [forkRule, strangerRule] : [winRule, strangerRule, endRule, rotationRule, lossRule]
  const outdated = history.losses.filter((loss) => loss.of === 'reads')
  return line.attempts.flatMap((attempt) => {
    // What only reads may not have left such a server yet. It must, before the span ends.
    if (reads.has(attempt.act) && outdated.some((loss) => overlaps(attempt, loss))) return []
    return violation(
      attempt,
      rules.map((check) => check(line, attempt, history)).find((broken) => broken !== undefined),
    )
  })
}

type Rule = (line: Line, attempt: Attempt, history: History) => string | undefined

const sameGrant = (one: Attempt, other: Attempt): boolean =>
  grantedBy(one).join(' ') === grantedBy(other).join(' ')

const reads: ReadonlySet<Act> = new Set<Act>(['guard', 'introspect', 'exchange', 'configure', 'authenticate'])
/** What begins a line: it presents nothing. */
const beginnings: ReadonlySet<Act> = new Set<Act>(['ask', 'begin', 'grant', 'register'])

const concerns = ({ registrationsOnly = false }: Loss, { attempts: [first] }: Line): boolean =>
  !registrationsOnly || first?.act === 'register'

/** A request that writes, acknowledged or not, during the span: a failover may have undone what it did. */
function mayHaveUndone(line: Line, { from, to }: Loss): boolean {
  return line.attempts.some(
    ({ act, sentAt, answeredAt }) => !reads.has(act) && answeredAt >= from && sentAt <= to,
  )
}

const winRule: Rule = (line, attempt, { grace }) => {
  const [first] = line.winsOf(attempt.presented)
  const isWin = attempt.answer.kind === 'granted'
  if (first === undefined || first === attempt || !isWin) return deniedRule(line, attempt)
  const isSame = sameGrant(first, attempt)
  if (attempt.act === 'redeem') return 'a code won twice'
  if (attempt.act === 'refresh' && !(isSame && grace > 0)) return 'a refresh generation won twice'
  if (attempt.act === 'poll' && !isSame) return 'a device won twice'
  if (attempt.act !== 'decide') return undefined
  if (!isSame) return 'a question was answered twice'
  const isRedeemed = grantedBy(attempt).some((code) =>
    line.winsOf(code).some((win) => knownBefore(win, attempt)),
  )
  return isRedeemed ? 'a redeemed code was given again' : undefined
}

/** Of an approval and a denial at once, one wins. */
const deniedRule = (line: Line, { act, answer, presented }: Attempt): string | undefined =>
  act === 'deny' && answer.kind === 'done' && line.winsOf(presented).length > 0
    ? 'a question was answered twice'
    : undefined

const strangerRule: Rule = (line, attempt) =>
  succeeded(attempt) && !beginnings.has(attempt.act) && line.originOf(attempt.presented) === undefined
    ? 'a credential that was never issued was accepted'
    : undefined

const endRule: Rule = (line, attempt, { losses }) =>
  succeeded(attempt) &&
  line.attempts.some((end) => line.isEnd(end) && knownBefore(end, attempt) && !mayBeVain(line, end, losses))
    ? 'a revoked credential was accepted'
    : undefined

const beginOf = ({ attempts: [first] }: Line): number => first?.sentAt ?? 0

/**
 * Whether the presented token may have expired by a wrong clock, and left its record. Its revocation then ends nothing,
 * as that of a token that the server never issued (RFC 7009 2.2).
 */
function mayBeVain(line: Line, end: Attempt, losses: readonly Loss[]): boolean {
  return (
    end.answer.kind === 'done' &&
    end.act !== 'unregister' &&
    losses.some(({ of, from, to }) => of === 'time' && beginOf(line) < to && end.answeredAt > from)
  )
}

const rotationRule: Rule = (line, attempt) =>
  succeeded(attempt) && attempt.act === 'refresh' && line.isRotatedOut(attempt)
    ? 'a rotated-out token was accepted'
    : undefined

/** What was acknowledged is there, unless its client, or the loss of all data, may have ended it. */
const lossRule: Rule = (line, attempt, { losses, isCalm }) => {
  const origin = line.originOf(attempt.presented)
  if (origin === undefined) return undefined
  const grave = losses.filter(({ of, to }) => (of === 'all' || of === 'time') && beginOf(line) < to)
  for (const { of, from, to } of grave) {
    if (of === 'all' && succeeded(attempt) && origin.answeredAt <= from && attempt.sentAt >= to)
      return 'a credential was accepted although all data was gone'
    if (attempt.answeredAt > from) return undefined
  }
  if (attempt.answer.kind !== 'refused' || !knownBefore(origin, attempt)) return undefined
  const ended = line.attempts.some(
    (end) => end !== attempt && end.sentAt < attempt.answeredAt && line.mayEnd(end),
  )
  // Of those who race for it when nothing breaks, one wins.
  const used = line
    .usesOf(attempt.presented)
    .some(
      (use) =>
        use !== attempt && use.sentAt < attempt.answeredAt && !(isCalm && use.answer.kind === 'refused'),
    )
  if (ended || (used && attempt.act !== 'refresh')) return undefined
  if (attempt.act === 'refresh' && line.mayBeReuse(attempt)) return undefined
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
  const decided = Math.max(...forks.flatMap(([win]) => win?.answeredAt ?? []))
  const alive = forks.filter(([win]) =>
    line.attempts.some(
      (later) =>
        later.sentAt >= decided &&
        succeeded(later) &&
        win !== undefined &&
        grantedBy(win).includes(later.presented),
    ),
  )
  return forks.length > 1 && alive.length > 1 ? 'two answers to one credential were good at once' : undefined
}

/** A broken rule, with all that its line has seen. */
export function inWords({ rule, attempt: broken }: Violation, attempts: readonly Attempt[]): string {
  const begun = attempts[0]?.sentAt ?? 0
  const at = (moment: number) => Math.round(moment - begun)
  const told = attempts
    .filter(({ line }) => line === broken.line)
    .map(({ act, presented, sentAt, answeredAt, answer }) => {
      const brought = grantedBy({ answer }).map(short).join(' ')
      const what = 'what' in answer ? answer.what : ''
      return `    ${at(sentAt)} to ${at(answeredAt)} ms: ${act} ${short(presented)} → ${answer.kind} ${brought}${what}`
    })
  return `${rule} (${broken.act}, sent at ${at(broken.sentAt)} ms)\n${told.join('\n')}`
}

const short = (credential: string): string => credential.slice(-6)

/** What a server may keep of a request that is over: the rest is noise of the engine, which grows with nothing. */
const bytesPerRequest = 300
const noise = 2_000_000

/** What a process kept, by its health after each of several rounds with so many requests together. */
export function growthIn(healths: readonly Health[], requests: number): readonly string[] {
  // The first rounds are for warming up.
  const [first, ...others] = healths.slice(2)
  const last = others.at(-1)
  if (first === undefined || last === undefined) return []
  const bound = noise + (bytesPerRequest * requests * others.length) / healths.length
  return [
    ...(last.memory - first.memory > bound ? [`memory grew by more than ${Math.round(bound)} bytes`] : []),
    ...(last.handles - first.handles > 2 ? ['handles stay open'] : []),
  ]
}
