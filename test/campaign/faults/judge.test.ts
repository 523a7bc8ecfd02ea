import { coveredOf, type Act, type Answer, type Attempt, type History } from './history'
import { judge } from './judge'

const granted = (...credentials: string[]): Answer => ({ kind: 'granted', credentials })
const accepted: Answer = { kind: 'accepted' }
const done: Answer = { kind: 'done' }
const refused: Answer = { kind: 'refused' }
const trouble: Answer = { kind: 'trouble' }

type Words = readonly [act: Act, presented: string, answer: Answer, sentAt?: number, answeredAt?: number]

/** A history of one authorization: an attempt each 10 ms, one after the other unless the times are told. */
function history(words: readonly Words[], bend: Partial<History> = {}): History {
  const attempts = words.map(([act, presented, answer, sentAt, answeredAt], index): Attempt => ({
    line: 1,
    act,
    presented,
    answer,
    sentAt: sentAt ?? index * 10,
    answeredAt: answeredAt ?? (sentAt ?? index * 10) + 5,
  }))
  const faults = [{ from: 0, to: 1e6 }]
  return { attempts, faults, losses: [], standstills: [], grace: 30, bound: 1, ...bend }
}

const stood = (from: number, to: number) => ({ faults: [], standstills: [{ from, to }] })

/** The rules that the judge sees broken in such a history. */
function rulesOf(words: readonly Words[], bend: Partial<History> = {}): readonly string[] {
  return [...new Set(judge(history(words, bend)).map(({ rule }) => rule))]
}

const begun: readonly Words[] = [
  ['ask', '', granted('form')],
  ['decide', 'form', granted('code')],
  ['redeem', 'code', granted('at_1', 'rt_1')],
]
const rotated: readonly Words[] = [...begun, ['refresh', 'rt_1', granted('at_2', 'rt_2')]]

describe('The judge finds nothing in', () => {
  const good: Record<string, readonly Words[]> = {
    'a whole life': [
      ...rotated,
      ['guard', 'at_1', accepted],
      ['introspect', 'at_2', accepted],
      ['revoke', 'at_1', done],
      ['guard', 'at_2', refused],
      ['refresh', 'rt_2', refused],
    ],
    'a code whose redemption had no answer': [
      ...begun.slice(0, 2),
      ['redeem', 'code', trouble],
      ['redeem', 'code', refused],
    ],
    'a decision that had no answer': [
      ['ask', '', granted('form')],
      ['decide', 'form', trouble],
      ['decide', 'form', refused],
    ],
    'a refresh that is sent again': [
      ...begun,
      ['refresh', 'rt_1', trouble],
      ['refresh', 'rt_1', granted('at_2', 'rt_2')],
      ['refresh', 'rt_1', granted('at_2', 'rt_2')],
      ['refresh', 'rt_2', granted('at_3', 'rt_3')],
    ],
    'a revocation that may have happened': [
      ...begun,
      ['revoke', 'at_1', trouble],
      ['guard', 'at_1', accepted],
      ['guard', 'at_1', refused],
    ],
    'a replay that may have happened': [...begun, ['redeem', 'code', trouble], ['guard', 'at_1', refused]],
    'two redemptions at once, of which the loser kills': [
      ...begun.slice(0, 2),
      ['redeem', 'code', granted('at_1', 'rt_1'), 20, 40],
      ['redeem', 'code', refused, 21, 39],
      ['guard', 'at_1', refused],
    ],
    'a token that is presented while it is revoked': [
      ...begun,
      ['revoke', 'at_1', done, 30, 50],
      ['guard', 'at_1', accepted, 31, 60],
    ],
    'a refresh that comes after the grace': [
      ...begun,
      ['refresh', 'rt_1', trouble],
      ['refresh', 'rt_1', refused, 30_000],
    ],
  }
  test.each(Object.keys(good))('%s', (title) => {
    expect(rulesOf(good[title] ?? [])).toEqual([])
  })

  test('what all lost data takes along', () => {
    const losses = [{ of: 'all', from: 26, to: 40 }] as const
    expect(rulesOf([...begun, ['guard', 'at_1', refused, 50]], { losses })).toEqual([])
  })

  test('a guard that has not left a demoted master yet', () => {
    const losses = [{ of: 'news', from: 26, to: 60 }] as const
    const words: readonly Words[] = [...begun, ['revoke', 'rt_1', done, 30], ['guard', 'at_1', accepted, 50]]
    expect(rulesOf(words, { losses })).toEqual([])
  })

  test('a process that reads from a demoted master', () => {
    const losses = [{ of: 'reads', from: 26, to: 60 }] as const
    const words: readonly Words[] = [
      ...begun,
      ['revoke', 'rt_1', done, 30],
      ['introspect', 'at_1', accepted, 50],
    ]
    expect(rulesOf(words, { losses })).toEqual([])
    expect(rulesOf(words)).toEqual(['a revoked credential was accepted'])
  })

  test('what a wrong clock ends', () => {
    const losses = [{ of: 'time', from: 26, to: 40 }] as const
    const words: readonly Words[] = [
      ...begun,
      ['guard', 'at_1', refused, 30],
      ['guard', 'at_1', accepted, 50],
    ]
    expect(rulesOf(words, { losses })).toEqual([])
    expect(rulesOf(words)).toEqual(['an acknowledged credential was lost (guard)'])
  })

  test('a revocation by a token that a wrong clock has ended', () => {
    const losses = [{ of: 'time', from: 26, to: 40 }] as const
    const words: readonly Words[] = [
      ...rotated,
      ['revoke', 'at_1', done, 50],
      ['guard', 'at_2', accepted, 60],
    ]
    expect(rulesOf(words, { losses })).toEqual([])
    expect(rulesOf(words)).toEqual(['a revoked credential was accepted'])
  })

  test('a registration that a failover lost, and no authorization beside it', () => {
    const losses = [{ of: 'some', from: 0, to: 30, registrationsOnly: true }] as const
    const registration: readonly Words[] = [
      ['register', '', granted('client')],
      ['configure', 'client', refused, 40],
    ]
    expect(rulesOf(registration, { losses })).toEqual([])
    expect(rulesOf([...begun, ['guard', 'at_1', refused, 40]], { losses })).toEqual([
      'an acknowledged credential was lost (guard)',
    ])
  })

  test('the same code for the same decision', () => {
    expect(rulesOf([...begun.slice(0, 2), ['decide', 'form', granted('code')]])).toEqual([])
  })

  test('a code that wins again after a failover that lost its first redemption', () => {
    const losses = [{ of: 'some', from: 20, to: 30 }] as const
    const again: readonly Words[] = [
      ...begun,
      ['redeem', 'code', granted('at_9', 'rt_9'), 50],
      ['guard', 'at_1', refused, 60],
      ['guard', 'at_9', accepted, 70],
    ]
    expect(rulesOf(again, { losses })).toEqual([])
  })
})

describe('The judge sees', () => {
  const bad: Record<string, readonly Words[]> = {
    'a code won twice': [...begun, ['redeem', 'code', granted('at_9', 'rt_9')]],
    'a question was answered twice': [...begun, ['decide', 'form', granted('another code')]],
    'a refresh generation won twice': [...rotated, ['refresh', 'rt_1', granted('at_9', 'rt_9')]],
    'a rotated-out token was accepted': [
      ...rotated,
      ['refresh', 'rt_2', granted('at_3', 'rt_3')],
      ['refresh', 'rt_1', granted('at_2', 'rt_2')],
    ],
    'a revoked credential was accepted': [...begun, ['revoke', 'rt_1', done], ['guard', 'at_1', accepted]],
    'a credential that was never issued was accepted': [...begun, ['guard', 'at_0', accepted]],
    'an acknowledged credential was lost (guard)': [...begun, ['guard', 'at_1', refused]],
    'an acknowledged credential was lost (introspect)': [...begun, ['introspect', 'at_1', refused]],
    'an acknowledged credential was lost (redeem)': [...begun.slice(0, 2), ['redeem', 'code', refused]],
    'an acknowledged credential was lost (decide)': [...begun.slice(0, 1), ['decide', 'form', refused]],
    'an acknowledged credential was lost (refresh)': [
      ...begun,
      ['refresh', 'rt_1', trouble],
      ['refresh', 'rt_1', refused],
    ],
    'an acknowledged credential was lost (configure)': [
      ['register', '', granted('client')],
      ['configure', 'client', refused],
    ],
    'no answer: reset': [...begun, ['guard', 'at_1', { kind: 'unanswered', what: 'reset' }]],
    'a wrong answer: 500': [...begun, ['guard', 'at_1', { kind: 'wrong', what: '500' }]],
    'an answer after 1001 ms': [...begun, ['guard', 'at_1', accepted, 30, 1031]],
  }
  test.each(Object.keys(bad))('%s', (rule) => {
    expect(rulesOf(bad[rule] ?? [])).toEqual([rule])
  })

  test.each<readonly [string, readonly Words[]]>([
    ['a replayed code', [['redeem', 'code', refused]]],
    [
      'a reused refresh token',
      [
        ['refresh', 'rt_1', granted('at_2', 'rt_2')],
        ['refresh', 'rt_2', granted('at_3', 'rt_3')],
        ['refresh', 'rt_1', refused],
      ],
    ],
  ])('a token that outlives %s', (_title, end) => {
    expect(rulesOf([...begun, ...end, ['guard', 'at_1', accepted]])).toEqual([
      'a revoked credential was accepted',
    ])
  })

  test('trouble although nothing was wrong', () => {
    const words: readonly Words[] = [...begun, ['guard', 'at_1', trouble]]
    expect(rulesOf(words, { faults: [] })).toEqual(['trouble although nothing was wrong'])
    expect(rulesOf(words, { faults: [{ from: 0, to: 31 }] })).toEqual([])
  })

  test('trouble or a late answer, but not while the machine stands still', () => {
    const late: readonly Words[] = [...begun, ['guard', 'at_1', trouble, 30, 1500]]
    expect(rulesOf(late, stood(400, 900))).toEqual([])
    expect(rulesOf(late, stood(400, 800))).toEqual(['an answer after 1070 ms'])
    expect(rulesOf(late, stood(2000, 2900))).toEqual([
      'an answer after 1470 ms',
      'trouble although nothing was wrong',
    ])
  })

  test('of standstills that overlap, each moment once', () => {
    const spans = [
      { from: 5, to: 20 },
      { from: 0, to: 10 },
      { from: 6, to: 8 },
      { from: 90, to: 120 },
    ]
    expect(coveredOf({ from: 2, to: 100 }, spans)).toBe(28)
    expect(coveredOf({ from: 30, to: 80 }, spans)).toBe(0)
  })

  test('what outlives all data, and what is lost after it', () => {
    const losses = [{ of: 'all', from: 26, to: 40 }] as const
    expect(rulesOf([...begun, ['guard', 'at_1', accepted, 50]], { losses })).toEqual([
      'a credential was accepted although all data was gone',
    ])
    expect(
      rulesOf([...begun, ['guard', 'at_1', refused]], {
        losses: [{ of: 'all', from: -9, to: -1 }],
      }),
    ).toEqual(['an acknowledged credential was lost (guard)'])
  })

  test('a guard that never leaves a demoted master', () => {
    const losses = [{ of: 'news', from: 26, to: 60 }] as const
    const words: readonly Words[] = [...begun, ['revoke', 'rt_1', done, 30], ['guard', 'at_1', accepted, 61]]
    expect(rulesOf(words, { losses })).toEqual(['a revoked credential was accepted'])
  })

  test('two lives of one authorization after a failover', () => {
    const losses = [{ of: 'some', from: 20, to: 30 }] as const
    const both: readonly Words[] = [
      ...begun,
      ['redeem', 'code', granted('at_9', 'rt_9'), 50],
      ['guard', 'at_1', accepted, 60],
      ['guard', 'at_9', accepted, 70],
    ]
    expect(rulesOf(both, { losses })).toEqual(['two answers to one credential were good at once'])
  })

  test('what a failover may not undo: an authorization at rest', () => {
    const losses = [{ of: 'some', from: 100, to: 200 }] as const
    expect(rulesOf([...begun, ['guard', 'at_1', refused, 300]], { losses })).toEqual([
      'an acknowledged credential was lost (guard)',
    ])
  })
})
