import * as errors from '../../lib/protocol/oauth-error'

const factories = {
  invalid_request: errors.invalidRequest,
  invalid_client: errors.invalidClient,
  invalid_grant: errors.invalidGrant,
  invalid_scope: errors.invalidScope,
  invalid_target: errors.invalidTarget,
  unauthorized_client: errors.unauthorizedClient,
  unsupported_grant_type: errors.unsupportedGrantType,
  unsupported_response_type: errors.unsupportedResponseType,
  access_denied: errors.accessDenied,
  server_error: errors.serverError,
  temporarily_unavailable: errors.temporarilyUnavailable,
} satisfies Record<errors.OAuthErrorCode, unknown>

describe('OAuthError', () => {
  it.each(Object.entries(factories))('has a factory for %s', (code, create) => {
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
