import * as fc from 'fast-check'
import { lifetimes, noon } from '../support/authorization/issue-context'
import { goodNetwork, lossyNetwork } from '../support/authorization/moves'
import { holds } from '../support/authorization/workload'
import {
  approval,
  parallel,
  decisions,
  guesses,
  redeeming,
  redemptions,
  refreshes,
  refreshing,
  revocations,
} from '../support/authorization/workloads'
import {
  validCredentials,
  newestTokens,
  operationsOf,
  leaked,
  tokensOf,
  wasAnswered,
  wasOutOfUse,
} from '../support/authorization/observations'
import type { Ending } from '../support/authorization/transition-of'

const isGood = ({ kind }: Ending): boolean => !['refused', 'trouble', 'done before'].includes(kind)

describe('with any interleaving, on a bad network', () => {
  it('no code wins twice', () =>
    holds(redemptions, (simulation) => {
      const winners = operationsOf(simulation, 'redeem').filter(tokensOf)
      expect(winners.length).toBeLessThanOrEqual(1)
      return winners.length
    }))

  it('approval and denial never both win, and whichever wins again gets the same answer', () =>
    holds(decisions, (simulation) => {
      const winners = operationsOf(simulation, 'approve', 'deny').filter(({ ending }) => isGood(ending))
      expect(
        new Set(winners.map(({ move, ending }) => `${move.move} ${JSON.stringify(ending)}`)).size,
      ).toBeLessThan(2)
      return winners.length
    }))

  it('no code is given again that may have been redeemed', () =>
    holds(decisions, (simulation) => {
      const redeemed = operationsOf(simulation, 'redeem').find(tokensOf)
      const late = operationsOf(simulation, 'approve', 'deny').filter(
        ({ began }) => redeemed !== undefined && began.turn > redeemed.ended.turn,
      )
      for (const { ending } of late) expect(isGood(ending)).toBe(false)
      return late.length
    }))

  it('all answers to one refresh token are the same pair', () =>
    holds({ ...refreshes, lifetimes: {} }, (simulation) => {
      const answers = operationsOf(simulation, 'refresh').filter(tokensOf)
      for (const { presented } of answers) {
        const pairs = answers
          .filter((other) => other.presented === presented)
          .map((operation) => JSON.stringify(tokensOf(operation)))
        expect(new Set(pairs).size).toBe(1)
      }
      return answers.length
    }))

  it('all answers to one refresh token bring the same next one, though the access token ends before the grace', () =>
    holds({ ...refreshes, lifetimes: { accessToken: 10 } }, (simulation) => {
      const answers = operationsOf(simulation, 'refresh').filter(tokensOf)
      const next = new Set(
        answers.map((operation) => `${operation.presented} ${tokensOf(operation)?.refreshToken}`),
      )
      expect(next.size).toBe(new Set(answers.map(({ presented }) => presented)).size)
      for (const operation of answers)
        expect(tokensOf(operation)?.expiresAt).toBeGreaterThan(operation.began.now)
      return answers.length
    }))

  it('a refresh token gets one answer at most when there is no grace', () =>
    holds({ ...refreshes, lifetimes: { refreshTokenGrace: 0 } }, (simulation) => {
      const answered = operationsOf(simulation, 'refresh')
        .filter(tokensOf)
        .map(({ presented }) => presented)
      expect(new Set(answered).size).toBe(answered.length)
      return answered.length
    }))

  it.each([
    ['redeemed', redemptions],
    ['refreshed', refreshes],
    ['decided', decisions],
  ])(
    'a caller that %s learns it only after a write of its own that the store acknowledged',
    (_what, workload) =>
      holds(workload, (simulation) => {
        const good = simulation.operations.filter(({ ending }) => isGood(ending))
        const served = good.filter(({ move }) => move.move !== 'wait')
        for (const operation of served) expect(operation).toMatchObject({ acknowledged: true })
        return served.length
      }),
  )

  it('no credential is valid after a second redemption by the same client', () =>
    holds(redemptions, async (simulation) => {
      const own = operationsOf(simulation, 'redeem').filter(({ move }) => move.client === 'photo-printer')
      const won = own.find(tokensOf)
      const replays = own.filter(
        (operation) =>
          won !== undefined &&
          operation !== won &&
          wasAnswered(operation) &&
          // A right redemption beside the winner saw what it wrote; a wrong one may have come before it.
          (operation.began.turn > won.ended.turn ||
            (operation.move.verifier === 'right' &&
              operation.began.now < noon + lifetimes.authorizationCode)),
      )
      expect(replays.length > 0 ? await validCredentials(simulation) : []).toEqual([])
      return replays.length
    }))

  it('no credential is valid after a refresh token was used that was out of use', () =>
    holds(refreshes, async (simulation) => {
      const reuses = operationsOf(simulation, 'refresh').filter(
        (operation) =>
          operation.move.client === 'photo-printer' &&
          wasAnswered(operation) &&
          wasOutOfUse(simulation, operation),
      )
      expect(reuses.filter(tokensOf)).toEqual([])
      expect(reuses.length > 0 ? await validCredentials(simulation) : []).toEqual([])
      return reuses.length
    }))

  it('no credential is valid after a revocation', () =>
    holds(revocations, async (simulation) => {
      const revoked = operationsOf(simulation, 'revoke').filter(wasAnswered)
      expect(revoked.length > 0 ? await validCredentials(simulation) : []).toEqual([])
      return revoked.length
    }))

  it.each([
    ['another client with the code', redemptions],
    ['another client with a refresh token', refreshes],
    ['another owner with the consent token', decisions],
  ])('%s gets nothing and never writes', (_who, workload) =>
    holds(workload, (simulation) => {
      const strangers = simulation.operations.filter(({ move }) => Object.values(move).includes('mallory'))
      for (const stranger of strangers)
        expect(stranger).toMatchObject({
          writes: 0,
          ending: { kind: expect.stringMatching('refused|trouble') },
        })
      return strangers.length
    }),
  )

  it('the fifth wrong verifier burns the code', () =>
    holds(guesses, (simulation) => {
      const redeemed = operationsOf(simulation, 'redeem')
      const wrong = redeemed.filter(
        ({ ending }) => ending.kind === 'refused' && ending.reason === 'wrong_verifier',
      )
      expect(wrong.length).toBeLessThanOrEqual(5)
      const won = redeemed.find(tokensOf)
      const before = wrong.filter((operation) => won !== undefined && operation.ended.turn < won.began.turn)
      expect(before.length).toBeLessThan(5)
      return wrong.length === 5 ? 1 : 0
    }))

  it('what a store is given never holds the secret of a credential', () =>
    holds(refreshes, (simulation) => {
      for (const text of simulation.texts) expect(leaked(text, simulation.made)).toEqual([])
      return simulation.texts.length
    }))
})

describe('what an honest client may count on', () => {
  it('one redemption alone wins, whichever replies are lost', () =>
    holds(
      { setup: [approval], plans: fc.constant([[redeeming]]), network: lossyNetwork },
      ({ operations }) => {
        expect(operations.at(-1)!.ending.kind).toBe('tokens')
        return 1
      },
    ))

  it('of parallel redemptions exactly one wins, and the others revoke what it won', () =>
    holds({ setup: [approval], plans: parallel(redeeming, 2), network: goodNetwork }, async (simulation) => {
      expect(operationsOf(simulation, 'redeem').filter(tokensOf)).toHaveLength(1)
      expect(await validCredentials(simulation)).toEqual([])
      return 1
    }))

  it('issued tokens stay valid without replay, reuse and revocation', () =>
    holds({ ...refreshes, network: lossyNetwork, lifetimes: {} }, async (simulation) => {
      const reasons = simulation.operations.map(({ ending }) =>
        ending.kind === 'refused' ? ending.reason : '',
      )
      if (reasons.some((reason) => /replayed|reused/.test(reason))) return 0
      const survivors = await validCredentials(simulation)
      expect(survivors).toContain(newestTokens(simulation)?.refreshToken)
      expect(survivors).toContain(newestTokens(simulation)?.accessToken)
      return 1
    }))

  it('parallel approvals of one form all get the same code, whatever the network does, if they try again', () =>
    holds({ setup: [], plans: parallel(approval), lifetimes: {}, persistent: true }, ({ operations }) => {
      const answers = operations.filter(wasAnswered).map(({ ending }) => JSON.stringify(ending))
      expect(new Set(answers).size).toBe(1)
      expect(answers[0]).toContain('"code"')
      return answers.length
    }))

  it('parallel refreshes with one token all get the same tokens, whatever the network does, if they try again', () =>
    holds(
      {
        setup: [approval, redeeming],
        plans: parallel(refreshing),
        lifetimes: {},
        persistent: true,
      },
      async (simulation) => {
        const answers = operationsOf(simulation, 'refresh')
          .filter(wasAnswered)
          .map(({ ending }) => JSON.stringify(ending))
        expect(new Set(answers).size).toBe(1)
        expect(answers[0]).toContain('"tokens"')
        const last = tokensOf(simulation.operations.at(-1)!)!
        expect(await validCredentials(simulation)).toEqual(
          expect.arrayContaining([last.accessToken, last.refreshToken]),
        )
        return answers.length
      },
    ))
})
