import { overlaps, type Attempt, type History } from './history'
import type { Violation } from './judge'

// A machine that is busy with something else misses a deadline now and then, without any fault of Redis.
const toleratedShare = 0.01

/** Answers that are wrong in themselves, came too late, or told of trouble where there was none. */
export function availabilityViolations({ attempts, faults, bound }: History): readonly Violation[] {
  const calm = attempts.filter((attempt) => !faults.some((fault) => overlaps(attempt, fault)))
  const causeless = calm.filter(({ answer }) => answer.kind === 'trouble')
  const excess = causeless.length > calm.length * toleratedShare ? causeless : []
  return [
    ...attempts.flatMap((attempt) => faultsOf(attempt, bound)),
    ...excess.map((attempt) => ({ rule: 'trouble although nothing was wrong', attempt })),
  ]
}

function faultsOf(attempt: Attempt, bound: number): Violation[] {
  const { answer, sentAt, answeredAt } = attempt
  const late = answeredAt - sentAt > bound * 1000
  return [
    ...(answer.kind === 'wrong' ? [{ rule: `a wrong answer: ${answer.what}`, attempt }] : []),
    ...(late ? [{ rule: `an answer after ${Math.round(answeredAt - sentAt)} ms`, attempt }] : []),
  ]
}
