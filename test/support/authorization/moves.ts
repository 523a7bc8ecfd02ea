import * as fc from 'fast-check'
import type { CallOutcome } from './unreliable-store'

/** A move of a worker on the one authorization of a run. */
export type Move =
  | { readonly move: 'approve' | 'deny'; readonly owner: 'alice' | 'mallory' }
  | { readonly move: 'redeem'; readonly client: Who; readonly verifier: 'right' | 'wrong' }
  /** With one of the tokens that were delivered so far: 0 is the first one, -1 the last. */
  | { readonly move: 'refresh'; readonly client: Who; readonly token: number; readonly scope?: string }
  | { readonly move: 'revoke' }
  | { readonly move: 'wait'; readonly seconds: number }

type Who = 'photo-printer' | 'mallory'

/** What one of several workers does, one move after the other. */
export type Work = readonly Move[]

const mostly = <T extends string>(usual: T, rare: T) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constant(rare) })

export const moves = {
  approve: fc.record({ move: fc.constant('approve'), owner: mostly('alice', 'mallory') }),
  deny: fc.record({ move: fc.constant('deny'), owner: mostly('alice', 'mallory') }),
  redeem: fc.record({
    move: fc.constant('redeem'),
    client: mostly('photo-printer', 'mallory'),
    verifier: mostly('right', 'wrong'),
  }),
  guess: fc.constant<Move>({ move: 'redeem', client: 'photo-printer', verifier: 'wrong' }),
  refresh: fc.record({
    move: fc.constant('refresh'),
    client: mostly('photo-printer', 'mallory'),
    token: fc.oneof(
      { weight: 5, arbitrary: fc.constant(-1) },
      { weight: 2, arbitrary: fc.constant(-2) },
      { weight: 1, arbitrary: fc.nat({ max: 9 }) },
    ),
  }),
  revoke: fc.constant<Move>({ move: 'revoke' }),
  wait: fc.record({ move: fc.constant('wait'), seconds: fc.nat({ max: 60 }) }),
}

/** Several workers, each with some of these moves before it. */
export const plans = (...choices: readonly fc.WeightedArbitrary<Move>[]): fc.Arbitrary<readonly Work[]> =>
  fc.array(fc.array(fc.oneof(...choices), { minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 4 })

/** The outcomes of the first calls to the store. */
export const badNetwork: fc.Arbitrary<readonly CallOutcome[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.constant<CallOutcome>('served') },
    { weight: 3, arbitrary: fc.constant<CallOutcome>('applied, reply lost, sent again') },
    { weight: 1, arbitrary: fc.constant<CallOutcome>('applied, then rejected') },
    { weight: 1, arbitrary: fc.constant<CallOutcome>('rejected') },
    { weight: 1, arbitrary: fc.constant<CallOutcome>('rejected, applied late') },
  ),
  { maxLength: 40 },
)

/** A network that loses replies, and a client library that sends again what was not answered. */
export const lossyNetwork: fc.Arbitrary<readonly CallOutcome[]> = fc.array(
  fc.constantFrom<CallOutcome>('served', 'applied, reply lost, sent again'),
  { maxLength: 40 },
)

export const goodNetwork: fc.Arbitrary<readonly CallOutcome[]> = fc.constant([])
