import { inspect } from 'node:util'
import * as hostErrors from '../../lib/protocol/host-errors'
import * as errors from '../../lib/protocol/oauth-error'
import { bareError } from '../../lib/protocol/oauth-error'

const factories = {
  invalid_request: hostErrors.invalidRequest,
  invalid_client: hostErrors.invalidClient,
  invalid_grant: hostErrors.invalidGrant,
  invalid_scope: hostErrors.invalidScope,
  invalid_target: hostErrors.invalidTarget,
  unauthorized_client: hostErrors.unauthorizedClient,
  access_denied: hostErrors.accessDenied,
  server_error: hostErrors.serverError,
  temporarily_unavailable: hostErrors.temporarilyUnavailable,
}

describe('OAuthError', () => {
  it.each(Object.entries(factories))('has a factory for hosts for %s', (code, create) => {
    const error = create('because_of_this', 'This is why.')
    expect(error).toBeInstanceOf(errors.OAuthError)
    expect(error).toMatchObject({
      name: 'OAuthError',
      code,
      reason: 'because_of_this',
      description: 'This is why.',
    })
  })

  it('says its description and keeps its reason and cause to this side', () => {
    const cause = new Error('ECONNREFUSED 10.0.0.7')
    const error = errors.temporarilyUnavailable('store_unavailable', 'Try again.', { cause })
    expect(error.cause).toBe(cause)
    expect(error.message).toBe('Try again.')
    expect(`${error.message}${error.description}`).not.toMatch(/store_unavailable|ECONNREFUSED/)
  })
})

describe('unexpected', () => {
  it('leaves an error of the framework as it is', () => {
    const error = errors.invalidGrant('code_unknown', 'The code is unknown.')
    expect(errors.unexpected(error)).toBe(error)
  })

  it.each([[new Error('ECONNREFUSED 10.0.0.7')], ['thrown text'], [undefined]])(
    'answers anything else as server_error, with the cause on this side only: %s',
    (cause) => {
      const error = errors.unexpected(cause)
      expect(error).toMatchObject({ code: 'server_error', reason: 'unexpected' })
      expect(error.cause).toBe(cause)
      expect(error.description).toBe('The server met an unexpected condition.')
    },
  )
})

test.each(['', 'Zu "jung"', 'back\\slash', 'line\nbreak', 'für'])(
  'a description of %j, which cannot be sent, is refused where it is written',
  (description) => {
    expect(() => new errors.OAuthError('access_denied', 'own_reason', description)).toThrow('own_reason')
  },
)

describe('the response of an OAuthError', () => {
  const errorWith = (options: object) => new errors.OAuthError('access_denied', 'own_reason', 'Why.', options)

  it('has the status, headers and challenge that the options name', () => {
    const own = { status: 403, headers: { 'Retry-After': '7' }, challenge: { scope: 'a b', acr_values: 'x' } }
    expect(errorWith(own)).toMatchObject(own)
    expect(errorWith({})).toMatchObject({ status: undefined, headers: undefined, challenge: undefined })
  })

  it.each([399, 600, 400.5, Number.NaN, '400', null])('has no status %j', (status) => {
    expect(() => errorWith({ status })).toThrow(
      new RangeError('The status of "own_reason" must be a whole number, 400 to 599.'),
    )
  })

  it.each([[null], ['X: y'], [{ 'X Y': 'z' }], [{ X: 7 }], [{ X: 'a\r\nSet-Cookie: b' }], [{ X: 'é' }]])(
    'has no headers %j',
    (headers) => {
      expect(() => errorWith({ headers })).toThrow(
        new RangeError(
          'The headers of "own_reason" must be an object of names and texts of printable ASCII.',
        ),
      )
    },
  )

  it.each([
    [null],
    ['scope="a"'],
    [{ 'a b': 'c' }],
    [{ scope: '' }],
    [{ scope: 'a"' }],
    [{ max_age: 300 }],
    [{ realm: 'a' }],
    [{ Error: 'a' }],
  ])('has no challenge %j', (challenge) => {
    expect(() => errorWith({ challenge })).toThrow(/^The challenge of "own_reason" must be/)
  })
})

class ReplyError extends Error {
  override readonly name = 'ReplyError'
  constructor(
    message: string,
    readonly command: { readonly name: string; readonly args: readonly string[] },
  ) {
    super(message)
  }
}

const command = { name: 'set', args: ['oauth:authorization:x', 'the record'] }

describe('an error without its properties', () => {
  it('copies name, message, stack and class, and no command', () => {
    const bare = bareError(new ReplyError('OOM command not allowed', command))
    expect(bare).toBeInstanceOf(ReplyError)
    expect([bare.name, bare.message]).toEqual(['ReplyError', 'OOM command not allowed'])
    expect(inspect(bare, { depth: Infinity, showHidden: true })).toMatch(/OOM command not allowed[^]* at /)
    expect(inspect(bare, { depth: Infinity, showHidden: true })).not.toContain('the record')
  })

  it('is bare of its causes and parts, too', () => {
    const inner = new ReplyError('inner', command)
    const bare = bareError(new AggregateError([inner], 'outer', { cause: inner }))
    const text = inspect(bare, { depth: Infinity, showHidden: true })
    expect(text.match(/inner/g)?.length).toBeGreaterThan(1)
    expect(text).not.toContain('the record')
  })

  it('keeps the codes by which Node says what failed', () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', port: 6379, query: 'secret' })
    expect(inspect(bareError(refused), { showHidden: true })).toMatch(/ECONNREFUSED[^]*6379/)
    expect(inspect(bareError(refused), { showHidden: true })).not.toContain('secret')
  })

  it('cuts the arguments that Redis repeats', () => {
    const message = "ERR unknown command 'evalsha', with args beginning with: 'sha' '1' 'the record'"
    const bare = bareError(new Error(message))
    expect(bare.message).toBe("ERR unknown command 'evalsha'")
    expect(inspect(bare)).not.toContain('the record')
  })

  it('copies nothing of a value that is no error, and ends with circular causes', () => {
    expect(inspect(bareError({ password: 'wonderland' }))).not.toContain('wonderland')
    const round = new Error('round')
    round.cause = round
    expect(bareError(round).message).toBe('round')
  })
})
