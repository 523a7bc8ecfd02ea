import type { Answer, Attempt } from './history'
import { repeatedRedemptions } from './repeated-redemptions'

const granted: Answer = { kind: 'granted', credentials: ['at', 'rt'] }
const trouble: Answer = { kind: 'trouble' }
const refused: Answer = { kind: 'refused' }

const redeem = (presented: string, sentAt: number, answer: Answer, answeredAt = sentAt + 5): Attempt => ({
  line: 1,
  act: 'redeem',
  presented,
  sentAt,
  answeredAt,
  answer,
})

const counted = (...attempts: readonly Attempt[]) => Object.values(repeatedRedemptions(attempts))

describe('Of the redemptions that failed', () => {
  test.each([
    ['one that succeeds when it is repeated', [redeem('a', 0, trouble), redeem('a', 10, granted)], [1, 0]],
    ['one that is refused when it is repeated', [redeem('a', 0, trouble), redeem('a', 10, refused)], [1, 1]],
    [
      'one that meets trouble twice',
      [redeem('a', 0, trouble), redeem('a', 10, trouble), redeem('a', 20, refused)],
      [1, 1],
    ],
    ['one that is not repeated', [redeem('a', 0, trouble)], [0, 0]],
    ['a replay of what succeeded', [redeem('a', 0, granted), redeem('a', 10, refused)], [0, 0]],
    ['two at once', [redeem('a', 0, trouble), redeem('a', 1, refused)], [0, 0]],
    ['those of two codes', [redeem('a', 0, trouble), redeem('b', 10, refused)], [0, 0]],
  ])('counts %s', (_which, attempts, expected) => {
    expect(counted(...attempts)).toEqual(expected)
  })
})
