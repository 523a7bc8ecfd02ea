import {
  actorsIn,
  historyIn,
  introspectedHistory,
} from '../../../../lib/token-endpoint/grant-types/token-exchange/policy'

/** A chain of so many actors, as a claim. */
const chain = (length: number): unknown =>
  length === 0 ? undefined : { sub: `a${length}`, act: chain(length - 1) }

describe('the history of exchanges', () => {
  it('is told as a chain, the current actor outside (RFC 8693 4.1)', () => {
    expect(introspectedHistory({ actors: ['c', 'b', 'a'], audience: ['x'] })).toEqual({
      act: { sub: 'c', act: { sub: 'b', act: { sub: 'a' } } },
      aud: ['x'],
    })
    expect(introspectedHistory({ actors: [], audience: [] })).toEqual({})
  })

  it.each([undefined, null, 7, 'x', [], {}, { actors: 'a', audience: { b: 'c' } }])(
    'is empty where nothing sound was kept: %j',
    (data) => {
      expect(historyIn(data)).toEqual({ actors: [], audience: [] })
    },
  )

  it('is read from a claim of at most eight actors', () => {
    expect(actorsIn(undefined)).toEqual([])
    expect(actorsIn(chain(8))).toEqual(['a8', 'a7', 'a6', 'a5', 'a4', 'a3', 'a2', 'a1'])
    expect(actorsIn(chain(9))).toBeUndefined()
    for (const act of [null, 'a', [], {}, { sub: '' }, { sub: 'a', act: null }, { sub: 'a', act: 'b' }])
      expect(actorsIn(act)).toBeUndefined()
  })
})
