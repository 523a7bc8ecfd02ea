import { expected, isAccepted, isMortal, isRevocation, tellsTheEnd } from './expectations'
import type { Operation } from './plan'
import type { Answer } from './race-clients'
import type { Round } from './round'

/** What holds of every round, told from outside. */
export interface Invariant {
  readonly title: string
  /** What breaks it; undefined where the round has nothing to say about it. */
  readonly judge: (round: Round) => readonly string[] | undefined
}

const ofCodes: readonly Operation[] = ['redeem', 'replay']
const ofRefreshTokens: readonly Operation[] = ['refresh', 'refresh again', 'reuse']

const of = (answers: readonly Answer[], ...operations: readonly Operation[]): readonly Answer[] =>
  answers.filter(({ operation }) => operations.includes(operation))
const describeAnswer = ({ phase, operation, server, word }: Answer): string =>
  `${phase}: ${operation} at ${server} was answered "${word}"`
const unless = (holds: boolean, complaint: string): readonly string[] => (holds ? [] : [complaint])

const oneRedemption: Invariant = {
  title: 'exactly one redemption of a code succeeds',
  judge: ({ answers }) => {
    const redemptions = of(answers, ...ofCodes)
    const winners = redemptions.filter(isAccepted).length
    return redemptions.length < 2 ? undefined : unless(winners === 1, `${winners} redemptions won`)
  },
}

const onePair: Invariant = {
  title: 'a refresh token gets at most one pair of tokens, and without a grace one response',
  judge: ({ plan, answers }) => {
    const refreshes = of(answers, ...ofRefreshTokens)
    if (!refreshes.some(({ phase }) => phase === 'race')) return undefined
    const won = refreshes.filter(isAccepted)
    return [...new Set(won.map(({ presented }) => presented))].flatMap((token) => {
      const winners = won.filter(({ presented }) => presented === token)
      const pairs = new Set(winners.map(({ pair }) => JSON.stringify(pair)))
      return unless(
        pairs.size === 1 && (plan.grace > 0 || winners.length === 1),
        `one refresh token got ${winners.length} answers with ${pairs.size} pairs`,
      )
    })
  },
}

const oneDecision: Invariant = {
  title: 'either approval or denial of a request succeeds, and each repetition gets the same response',
  judge: ({ answers }) => {
    const decisions = of(answers, 'approve', 'deny', 'approve late', 'deny late')
    const won = new Set(decisions.filter(isAccepted).map(({ word, code }) => `${word} ${code}`)).size
    return decisions.length < 2 ? undefined : unless(won === 1, `${won} different decisions won`)
  },
}

const noCodeAgain: Invariant = {
  title: 'the server does not issue a redeemed code again',
  judge: ({ answers }) => {
    const redeemed = Math.min(...of(answers, 'redeem').filter(isAccepted).map(endOf))
    const late = of(answers, 'approve late').filter(({ began }) => began > redeemed)
    return late.length === 0 ? undefined : late.filter(isAccepted).map(describeAnswer)
  },
}

/** Nothing that was asked after one of these answers is accepted. */
function endedBy(title: string, ends: (answer: Answer) => boolean): Invariant {
  return {
    title,
    judge: ({ answers }) => {
      const end = Math.min(...answers.filter((answer) => tellsTheEnd(answer) && ends(answer)).map(endOf))
      if (end === Infinity) return undefined
      return answers.filter((answer) => answer.began > end && isAccepted(answer)).map(describeAnswer)
    },
  }
}
const endOf = ({ ended }: Answer): number => ended

const worksUnlessEnded: Invariant = {
  title: 'what one process issued works at every process, unless a request of the race revokes it',
  judge: ({ plan, answers }) => {
    const after = answers.filter(({ phase }) => phase === 'after')
    const mayHaveEnded =
      isMortal(plan) && answers.some((answer) => answer.phase === 'race' && tellsTheEnd(answer))
    if (mayHaveEnded || after.length === 0) return undefined
    return after.filter((answer) => !isAccepted(answer)).map(describeAnswer)
  },
}

const expectedAnswers: Invariant = {
  title: 'every response is one that its pair of requests allows',
  judge: ({ plan, answers }) =>
    answers.filter((answer) => !expected(plan, answer).includes(answer.word)).map(describeAnswer),
}

const noFailure: Invariant = {
  title: 'every request gets a response, and no response is a failure of the server',
  judge: ({ answers }) =>
    answers
      .filter(({ word }) => /^(page )?5|no answer|server_error|unavailable/.test(word))
      .map(describeAnswer),
}

export const invariants: readonly Invariant[] = [
  oneRedemption,
  onePair,
  oneDecision,
  noCodeAgain,
  endedBy('after a replayed code, the server accepts nothing of the grant', ({ operation }) =>
    ofCodes.includes(operation),
  ),
  endedBy('after a refused refresh token, the server accepts nothing of the grant', ({ operation }) =>
    ofRefreshTokens.includes(operation),
  ),
  endedBy('after an acknowledged revocation, the server accepts nothing of the grant', isRevocation),
  endedBy('after a refusal at one process, every process refuses', () => true),
  worksUnlessEnded,
  expectedAnswers,
  noFailure,
]
