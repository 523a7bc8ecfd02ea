import { inspect } from 'node:util'
import { bareError, errorMembers, headersOf, OAuthError, statusOf } from '../../lib/protocol/oauth-error'
import * as hostErrors from '../../lib/protocol/host-errors'
import { overLimit, refused, refusedBy, unexpected } from '../../lib/protocol/refusals'

describe('an OAuth error', () => {
  test.each([
    ['invalid_request', hostErrors.invalidRequest],
    ['invalid_client', hostErrors.invalidClient],
    ['invalid_grant', hostErrors.invalidGrant],
    ['invalid_scope', hostErrors.invalidScope],
    ['invalid_target', hostErrors.invalidTarget],
    ['unauthorized_client', hostErrors.unauthorizedClient],
    ['access_denied', hostErrors.accessDenied],
    ['server_error', hostErrors.serverError],
    ['temporarily_unavailable', hostErrors.temporarilyUnavailable],
  ])('%s says its description, and keeps its reason to this side', (code, create) => {
    const error = create('because_of_this', 'This is why.')
    expect(error).toBeInstanceOf(OAuthError)
    expect(error).toMatchObject({
      name: 'OAuthError',
      code,
      reason: 'because_of_this',
      message: 'This is why.',
    })
    expect(errorMembers(error, undefined)).toEqual({ error: code, error_description: 'This is why.' })
    expect(errorMembers(error, 'https://photos.example/errors')).toHaveProperty(
      'error_uri',
      `https://photos.example/errors#${code}`,
    )
  })

  test('is what is thrown, or server_error with the cause on this side only', () => {
    const own = refused('code_unknown')
    expect(unexpected(own)).toBe(own)
    for (const cause of [new Error('ECONNREFUSED 10.0.0.7'), 'thrown text', undefined])
      expect(unexpected(cause)).toMatchObject({
        code: 'server_error',
        reason: 'unexpected',
        cause,
        description: 'The server met an unexpected condition.',
      })
  })

  test('for a reason that a plug-in gives has the row of this reason, or the words of the usual one', () => {
    const told = (reason: string) => {
      const { code, description, observed } = refusedBy(reason, 'token_invalid')
      return [code, description, observed]
    }
    const unproven = 'The request does not prove that it may use the access token.'
    expect(told('dpop_key_wrong')).toEqual(['invalid_token', unproven, { cause: 'guard' }])
    const usual = ['invalid_token', 'The access token is unknown, expired or revoked.', {}]
    expect(told('own_reason')).toEqual(usual)
    // A row of another error is none for a guard.
    expect(told('code_expired')).toEqual(usual)
  })

  test('has no description that cannot be sent: those of all printable ASCII but two can', () => {
    const refusalOf = (description: string) => {
      try {
        const error = new OAuthError('access_denied', 'own_reason', description)
        return error.description === description ? undefined : error.description
      } catch (error) {
        return String(error)
      }
    }
    const all = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code))
    // RFC 6749 5.2: %x20-21 / %x23-5B / %x5D-7E.
    const unsendable = [...all.map((character) => `a${character}`), ''].filter(
      (description) => refusalOf(description) !== undefined,
    )
    expect(unsendable).toEqual([...all.filter((one) => !/[ !#-[\]-~]/.test(one)).map((one) => `a${one}`), ''])
    for (const description of unsendable) expect(refusalOf(description)).toContain('own_reason')
  })

  const errorWith = (options: object) => new OAuthError('access_denied', 'own_reason', 'Why.', options)

  test('has the status, headers and challenge that a host gives it', () => {
    const own = { status: 403, headers: { 'Retry-After': '7' }, challenge: { scope: 'a b', acr_values: 'x' } }
    expect(errorWith(own)).toMatchObject(own)
    expect(errorWith({})).toMatchObject({ status: undefined, headers: undefined, challenge: undefined })
  })

  test.each<[string, readonly unknown[], RegExp]>([
    [
      'status',
      [399, 600, 400.5, Number.NaN, '400', null],
      /^The status of "own_reason" must be a whole number/,
    ],
    [
      'headers',
      [null, ['X: y'], { 'X Y': 'z' }, { X: 7 }, { X: 'a\r\nSet-Cookie: b' }, { X: 'é' }],
      /^The headers of "own_reason" must be an object of names and texts of printable ASCII\.$/,
    ],
    [
      'challenge',
      [
        null,
        'scope="a"',
        { 'a b': 'c' },
        { scope: '' },
        { scope: 'a"' },
        { max_age: 300 },
        { realm: 'a' },
        { Error: 'a' },
      ],
      /^The challenge of "own_reason" must be/,
    ],
  ])('has no wrong %s', (name, values, message) => {
    for (const value of values) expect(() => errorWith({ [name]: value })).toThrow(message)
  })
})

describe('the answer to an error', () => {
  const own = new OAuthError('access_denied', 'own_reason', 'x', { status: 403 })
  const later = { 'Retry-After': '30', 'X-Why': 'own' }
  const byCode = { access_denied: 404, temporarily_unavailable: 400 }

  test.each([
    [refused('client_unknown/authentication'), 401, 401, {}],
    [refused('token_invalid'), 401, 401, {}],
    [refused('unexpected'), 500, 500, {}],
    [refused('closing'), 503, 400, { 'Retry-After': '1' }],
    [refused('owner_denied'), 400, 404, {}],
    [overLimit('rate_limited', 7), 429, 429, { 'Retry-After': '7' }],
    [new OAuthError('temporarily_unavailable', 'own_reason', 'x', { headers: later }), 503, 400, later],
    [own, 403, 403, {}],
    [new OAuthError('toString', 'own_reason', 'x'), 400, 400, {}],
  ])('%s has status %i, or %i where the endpoint says so', (error, status, there, headers) => {
    expect([statusOf(error), statusOf(error, byCode), headersOf(error)]).toEqual([status, there, headers])
  })
})

class ReplyError extends Error {
  override readonly name = 'ReplyError'
  readonly command = { name: 'set', args: ['oauth:authorization:x', 'the record'] }
}
const seen = (value: unknown) => inspect(bareError(value), { depth: Infinity, showHidden: true })

describe('an error without its properties', () => {
  test('copies name, message, stack, class and the codes of Node, and no command', () => {
    const bare = bareError(new ReplyError('OOM command not allowed'))
    expect(bare).toBeInstanceOf(ReplyError)
    expect([bare.name, bare.message]).toEqual(['ReplyError', 'OOM command not allowed'])
    expect(seen(new ReplyError('OOM'))).toMatch(/OOM[^]* at /)
    const failed = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', port: 6379, query: 'secret' })
    expect(seen(failed)).toMatch(/ECONNREFUSED[^]*6379/)
    for (const error of [refused, new ReplyError('OOM')]) expect(seen(error)).not.toMatch(/secret|the record/)
  })

  test('is bare of its causes and parts, too, and ends with circular causes', () => {
    const inner = new ReplyError('inner')
    const text = seen(new AggregateError([inner], 'outer', { cause: inner }))
    expect(text.match(/inner/g)?.length).toBeGreaterThan(1)
    expect(text).not.toContain('the record')
    const round = new Error('round')
    round.cause = round
    expect(bareError(round).message).toBe('round')
  })

  test('cuts the arguments that Redis repeats, and copies nothing of what is no error', () => {
    const message = "ERR unknown command 'evalsha', with args beginning with: 'sha' '1' 'the record'"
    expect(bareError(new Error(message)).message).toBe("ERR unknown command 'evalsha'")
    expect(seen(new Error(message))).not.toContain('the record')
    expect(seen({ password: 'wonderland' })).not.toContain('wonderland')
  })
})
