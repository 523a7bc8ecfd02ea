import * as hostErrors from '../../lib/protocol/host-errors'
import * as errors from '../../lib/protocol/oauth-error'

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
