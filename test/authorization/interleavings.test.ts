import * as fc from 'fast-check'
import { lifetimes, noon } from '../support/authorization/issue-context'
import { goodNetwork, lossyNetwork } from '../support/authorization/moves'
import { holds } from '../support/authorization/scene'
import {
  approval,
  chorus,
  decisions,
  guesses,
  redeeming,
  redemptions,
  refreshes,
  refreshing,
  revocations,
} from '../support/authorization/scenes'
import {
  alive,
  deepest,
  deedsOf,
  leaked,
  tokensOf,
  wasAnswered,
  wasOutOfUse,
} from '../support/authorization/testimony'
import type { Ending } from '../support/authorization/transition-of'

const isGood = ({ kind }: Ending): boolean => !['refused', 'trouble', 'done before'].includes(kind)

describe('whatever comes between, on a bad network', () => {
  it('no code wins twice', () =>
    holds(redemptions, (world) => {
      const winners = deedsOf(world, 'redeem').filter(tokensOf)
      expect(winners.length).toBeLessThanOrEqual(1)
      return winners.length
    }))

  it('approval and denial never both win, and whichever wins again gets the same answer', () =>
    holds(decisions, (world) => {
      const winners = deedsOf(world, 'approve', 'deny').filter(({ ending }) => isGood(ending))
      expect(
        new Set(winners.map(({ move, ending }) => `${move.move} ${JSON.stringify(ending)}`)).size,
      ).toBeLessThan(2)
      return winners.length
    }))

  it('no code is given again that may have been redeemed', () =>
    holds(decisions, (world) => {
      const redeemed = deedsOf(world, 'redeem').find(tokensOf)
      const late = deedsOf(world, 'approve', 'deny').filter(
        ({ began }) => redeemed !== undefined && began.turn > redeemed.ended.turn,
      )
      for (const { ending } of late) expect(isGood(ending)).toBe(false)
      return late.length
    }))

  it('all answers to one refresh token are the same pair', () =>
    holds({ ...refreshes, lifetimes: {} }, (world) => {
      const answers = deedsOf(world, 'refresh').filter(tokensOf)
      for (const { presented } of answers) {
        const pairs = answers
          .filter((other) => other.presented === presented)
          .map((deed) => JSON.stringify(tokensOf(deed)))
        expect(new Set(pairs).size).toBe(1)
      }
      return answers.length
    }))

  it('all answers to one refresh token bring the same next one, though the access token ends before the grace', () =>
    holds({ ...refreshes, lifetimes: { accessToken: 10 } }, (world) => {
      const answers = deedsOf(world, 'refresh').filter(tokensOf)
      const next = new Set(answers.map((deed) => `${deed.presented} ${tokensOf(deed)?.refreshToken}`))
      expect(next.size).toBe(new Set(answers.map(({ presented }) => presented)).size)
      for (const deed of answers) expect(tokensOf(deed)?.expiresAt).toBeGreaterThan(deed.began.now)
      return answers.length
    }))

  it('a refresh token gets one answer at most when there is no grace', () =>
    holds({ ...refreshes, lifetimes: { refreshTokenGrace: 0 } }, (world) => {
      const answered = deedsOf(world, 'refresh')
        .filter(tokensOf)
        .map(({ presented }) => presented)
      expect(new Set(answered).size).toBe(answered.length)
      return answered.length
    }))

  it.each([
    ['redeemed', redemptions],
    ['refreshed', refreshes],
    ['decided', decisions],
  ])('whoever %s is told so only behind a write of their own that the store acknowledged', (_what, scene) =>
    holds(scene, (world) => {
      const told = world.deeds.filter(({ ending }) => isGood(ending))
      const served = told.filter(({ move }) => move.move !== 'wait')
      for (const deed of served) expect(deed).toMatchObject({ acknowledged: true })
      return served.length
    }),
  )

  it('nothing is alive after a second redemption by the same client', () =>
    holds(redemptions, async (world) => {
      const own = deedsOf(world, 'redeem').filter(({ move }) => move.client === 'photo-printer')
      const won = own.find(tokensOf)
      const replays = own.filter(
        (deed) =>
          won !== undefined &&
          deed !== won &&
          wasAnswered(deed) &&
          // A right redemption beside the winner saw what it wrote; a wrong one may have come before it.
          (deed.began.turn > won.ended.turn ||
            (deed.move.verifier === 'right' && deed.began.now < noon + lifetimes.authorizationCode)),
      )
      expect(replays.length > 0 ? await alive(world) : []).toEqual([])
      return replays.length
    }))

  it('nothing is alive after a refresh token was used that was out of use', () =>
    holds(refreshes, async (world) => {
      const reuses = deedsOf(world, 'refresh').filter(
        (deed) => deed.move.client === 'photo-printer' && wasAnswered(deed) && wasOutOfUse(world, deed),
      )
      expect(reuses.filter(tokensOf)).toEqual([])
      expect(reuses.length > 0 ? await alive(world) : []).toEqual([])
      return reuses.length
    }))

  it('nothing is alive after a revocation', () =>
    holds(revocations, async (world) => {
      const revoked = deedsOf(world, 'revoke').filter(wasAnswered)
      expect(revoked.length > 0 ? await alive(world) : []).toEqual([])
      return revoked.length
    }))

  it.each([
    ['another client with the code', redemptions],
    ['another client with a refresh token', refreshes],
    ['another owner with the handle', decisions],
  ])('%s gets nothing and never writes', (_who, scene) =>
    holds(scene, (world) => {
      const strangers = world.deeds.filter(({ move }) => Object.values(move).includes('mallory'))
      for (const stranger of strangers)
        expect(stranger).toMatchObject({
          writes: 0,
          ending: { kind: expect.stringMatching('refused|trouble') },
        })
      return strangers.length
    }),
  )

  it('the fifth wrong verifier burns the code', () =>
    holds(guesses, (world) => {
      const redeemed = deedsOf(world, 'redeem')
      const wrong = redeemed.filter(
        ({ ending }) => ending.kind === 'refused' && ending.reason === 'wrong_verifier',
      )
      expect(wrong.length).toBeLessThanOrEqual(5)
      const won = redeemed.find(tokensOf)
      const before = wrong.filter((deed) => won !== undefined && deed.ended.turn < won.began.turn)
      expect(before.length).toBeLessThan(5)
      return wrong.length === 5 ? 1 : 0
    }))

  it('what a store is given never holds the secret of a credential', () =>
    holds(refreshes, (world) => {
      for (const text of world.texts) expect(leaked(text, world.made)).toEqual([])
      return world.texts.length
    }))
})

describe('what an honest client may count on', () => {
  it('one redemption alone wins, whichever replies are lost', () =>
    holds({ prologue: [approval], crew: fc.constant([[redeeming]]), network: lossyNetwork }, ({ deeds }) => {
      expect(deeds.at(-1)!.ending.kind).toBe('tokens')
      return 1
    }))

  it('of parallel redemptions exactly one wins, and the others revoke what it won', () =>
    holds({ prologue: [approval], crew: chorus(redeeming, 2), network: goodNetwork }, async (world) => {
      expect(deedsOf(world, 'redeem').filter(tokensOf)).toHaveLength(1)
      expect(await alive(world)).toEqual([])
      return 1
    }))

  it('what was delivered is alive as long as nobody replays, reuses or revokes', () =>
    holds({ ...refreshes, network: lossyNetwork, lifetimes: {} }, async (world) => {
      const reasons = world.deeds.map(({ ending }) => (ending.kind === 'refused' ? ending.reason : ''))
      if (reasons.some((reason) => /replayed|reused/.test(reason))) return 0
      const survivors = await alive(world)
      expect(survivors).toContain(deepest(world)?.refreshToken)
      expect(survivors).toContain(deepest(world)?.accessToken)
      return 1
    }))

  it('parallel approvals of one form all get the same code, whatever the network does, if they try again', () =>
    holds({ prologue: [], crew: chorus(approval), lifetimes: {}, persistent: true }, ({ deeds }) => {
      const answers = deeds.filter(wasAnswered).map(({ ending }) => JSON.stringify(ending))
      expect(new Set(answers).size).toBe(1)
      expect(answers[0]).toContain('"code"')
      return answers.length
    }))

  it('parallel refreshes with one token all get the same tokens, whatever the network does, if they try again', () =>
    holds(
      {
        prologue: [approval, redeeming],
        crew: chorus(refreshing),
        lifetimes: {},
        persistent: true,
      },
      async (world) => {
        const answers = deedsOf(world, 'refresh')
          .filter(wasAnswered)
          .map(({ ending }) => JSON.stringify(ending))
        expect(new Set(answers).size).toBe(1)
        expect(answers[0]).toContain('"tokens"')
        const last = tokensOf(world.deeds.at(-1)!)!
        expect(await alive(world)).toEqual(expect.arrayContaining([last.accessToken, last.refreshToken]))
        return answers.length
      },
    ))
})
