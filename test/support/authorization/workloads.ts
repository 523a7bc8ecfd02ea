import * as fc from 'fast-check'
import { plans, moves, type Move } from './moves'
import type { Workload } from './workload'

export const approval: Move = { move: 'approve', owner: 'alice' }
export const redeeming: Move = { move: 'redeem', client: 'photo-printer', verifier: 'right' }
export const refreshing: Move = { move: 'refresh', client: 'photo-printer', token: 0 }

const often = (arbitrary: fc.Arbitrary<Move>) => ({ weight: 6, arbitrary })
const sometimes = (arbitrary: fc.Arbitrary<Move>) => ({ weight: 2, arbitrary })
const rarely = (arbitrary: fc.Arbitrary<Move>) => ({ weight: 1, arbitrary })

export const decisions: Workload = {
  setup: [],
  plans: plans(often(moves.approve), often(moves.deny), sometimes(moves.redeem), rarely(moves.wait)),
}
export const redemptions: Workload = {
  setup: [approval],
  plans: plans(often(moves.redeem), sometimes(moves.refresh), rarely(moves.wait)),
}
export const guesses: Workload = {
  setup: [approval],
  plans: plans(often(moves.guess), sometimes(moves.redeem)),
}
export const refreshes: Workload = {
  setup: [approval, redeeming],
  plans: plans(often(moves.refresh), sometimes(moves.wait), rarely(moves.redeem)),
}
export const revocations: Workload = {
  setup: [approval],
  plans: plans(often(moves.redeem), often(moves.refresh), sometimes(moves.revoke)),
}

/** Several workers who do the same thing at the same time. */
export const parallel = (move: Move, least = 1) =>
  fc.integer({ min: least, max: 5 }).map((workers) => Array.from({ length: workers }, () => [move]))
