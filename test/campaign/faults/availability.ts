import { coveredOf, overlaps, type Attempt, type History } from './history'
import type { Violation } from './judge'

// What lasts too short for a standstill to be seen may still miss a deadline.
const toleratedShare = 0.01

/**
 * Answers that are wrong in themselves, came too late, or told of trouble where there was none. While the machine stands
 * still for everybody, no deadline is promised.
 */
export function availabilityViolations(history: History): readonly Violation[] {
  const { attempts, faults, standstills } = history
  const calm = attempts.filter(
    (attempt) => ![...faults, ...standstills].some((span) => overlaps(attempt, span)),
  )
  const causeless = calm.filter(({ answer }) => answer.kind === 'trouble')
  const excess = causeless.length > calm.length * toleratedShare ? causeless : []
  return [
    ...attempts.flatMap((attempt) => faultsOf(attempt, history)),
    ...excess.map((attempt) => ({ rule: 'trouble although nothing was wrong', attempt })),
  ]
}

function faultsOf(attempt: Attempt, { bound, standstills }: History): Violation[] {
  const { answer, sentAt, answeredAt } = attempt
  const waited = answeredAt - sentAt - coveredOf({ from: sentAt, to: answeredAt }, standstills)
  const late = waited > bound * 1000
  return [
    ...wrongAnswers([attempt]),
    ...(answer.kind === 'unanswered' ? [{ rule: `no answer: ${answer.what}`, attempt }] : []),
    ...(late ? [{ rule: `an answer after ${Math.round(waited)} ms`, attempt }] : []),
  ]
}

/** Answers that no fault explains. */
export function wrongAnswers(attempts: readonly Attempt[]): Violation[] {
  return attempts.flatMap((attempt) =>
    attempt.answer.kind === 'wrong' ? [{ rule: `a wrong answer: ${attempt.answer.what}`, attempt }] : [],
  )
}
