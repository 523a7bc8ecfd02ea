import { tokenExchange } from '../../../../lib/index'
import {
  actorsIn,
  historyIn,
  introspectedHistory,
} from '../../../../lib/token-endpoint/grant-types/token-exchange/exchange-history'
import { type Maker, mistakesOf } from '../../../support/rooms/mistakes-of'

/** A chain of so many actors, as a claim. */
const chain = (length: number): unknown =>
  length === 0 ? undefined : { sub: `a${length}`, act: chain(length - 1) }

describe('the history of exchanges', () => {
  it('is a chain with the current actor outside (RFC 8693 4.1)', () => {
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

const javascript: Maker = { make: tokenExchange }
const issuesIn = (options: unknown) => mistakesOf(javascript, options)

const policy = () => undefined
const uri = (name: string) => `urn:ietf:params:oauth:token-type:${name}`

describe('the options of token exchange', () => {
  it('are a policy and, if the host likes, functions for other token types', () => {
    expect(issuesIn({ policy })).toEqual([])
    expect(issuesIn({ policy, tokenTypes: { [uri('jwt')]: policy, 'https://a.example/t': policy } })).toEqual(
      [],
    )
    expect(tokenExchange({ policy }).name).toBe('urn:ietf:params:oauth:grant-type:token-exchange')
  })

  it('are refused with every mistake, its path and its cure', () => {
    const tokenTypes = JSON.parse('{ "__proto__": 1, "jwt": 1, "urn:x:1": 1 }')
    Object.assign(tokenTypes, { [uri('access_token')]: policy, [uri('refresh_token')]: policy })
    expect(issuesIn({ policies: policy, tokenTypes })).toEqual([
      { path: 'policy', message: 'is missing: it must be a function that decides about an exchange.' },
      {
        path: 'tokenTypes["__proto__"]',
        message: 'must be an absolute URI, such as urn:ietf:params:oauth:token-type:jwt.',
      },
      {
        path: 'tokenTypes["jwt"]',
        message: 'must be an absolute URI, such as urn:ietf:params:oauth:token-type:jwt.',
      },
      {
        path: 'tokenTypes["urn:x:1"]',
        message: 'must be a function that returns the claims of a good token.',
      },
      {
        path: `tokenTypes["${uri('access_token')}"]`,
        message: 'is verified by the server itself: remove it.',
      },
      {
        path: `tokenTypes["${uri('refresh_token')}"]`,
        message: 'is never accepted, because a refresh token is good at its own grant only: remove it.',
      },
      {
        path: 'policies',
        message: 'is not known here. Did you mean policy? The known names are policy, tokenTypes.',
      },
    ])
  })

  it.each([undefined, null, 7, 'policy', []])('are an object: %j is none', (options) => {
    expect(issuesIn(options).map(({ path }) => path)).toEqual(['options', 'policy'])
  })

  it.each([null, [], 'jwt'])('name token types in an object: %j is none', (tokenTypes) => {
    expect(issuesIn({ policy, tokenTypes })).toEqual([
      { path: 'tokenTypes', message: 'must be an object from token type identifiers to functions.' },
    ])
  })
})
