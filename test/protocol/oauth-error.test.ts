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
  '[RSP-6] a description of %j, which cannot be sent, is refused where it is written',
  (description) => {
    expect(() => new errors.OAuthError('access_denied', 'own_reason', description)).toThrow('own_reason')
  },
)

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
  it('tells name, message, stack and class, and no command', () => {
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
    const told = "ERR unknown command 'evalsha', with args beginning with: 'sha' '1' 'the record'"
    const bare = bareError(new Error(told))
    expect(bare.message).toBe("ERR unknown command 'evalsha'")
    expect(inspect(bare)).not.toContain('the record')
  })

  it('tells nothing of what is no error, and ends where causes go round', () => {
    expect(inspect(bareError({ password: 'wonderland' }))).not.toContain('wonderland')
    const round = new Error('round')
    round.cause = round
    expect(bareError(round).message).toBe('round')
  })
})
