import { groupsOf, knownBefore, type Attempt } from './history'

/** What became of codes whose redemption met trouble, and that their client then presented again. */
export interface RepeatedRedemptions {
  readonly codes: number
  /** Those whose repetition was refused, and ended the authorization: the write had happened. */
  readonly ended: number
}

/** Looks at codes that one client presents, one time after another, until it knows what came of them. */
export function repeatedRedemptions(attempts: readonly Attempt[]): RepeatedRedemptions {
  const redemptions = attempts.filter(({ act }) => act === 'redeem')
  const outcomes = groupsOf(redemptions, ({ presented }) => presented).flatMap((ofCode) => {
    const inOrder = ofCode.toSorted((one, other) => one.sentAt - other.sentAt)
    const settled = inOrder.findIndex(({ answer }) => answer.kind !== 'trouble')
    const known = inOrder.slice(0, settled + 1)
    const isOneClient = known.every((attempt, index) => {
      const next = inOrder[index + 1]
      return next === undefined || knownBefore(attempt, next)
    })
    return settled > 0 && isOneClient ? known.slice(-1) : []
  })
  return {
    codes: outcomes.length,
    ended: outcomes.filter(({ answer }) => answer.kind === 'refused').length,
  }
}
