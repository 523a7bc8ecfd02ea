import { errorMembers, headersOf, statusOf } from '../../lib/protocol/error-response'
import {
  accessDenied,
  invalidClient,
  invalidToken,
  OAuthError,
  serverError,
  temporarilyUnavailable,
  tooManyAttempts,
} from '../../lib/protocol/oauth-error'

const ownStatus = new OAuthError('access_denied', 'own_reason', 'x', { status: 403 })

describe('statusOf', () => {
  it.each([
    ['invalid_client', invalidClient('client_unknown', 'x'), 401],
    ['invalid_token', invalidToken('token_invalid', 'x'), 401],
    ['server_error', serverError('unexpected', 'x'), 500],
    ['temporarily_unavailable', temporarilyUnavailable('closing', 'x'), 503],
    ['another code', accessDenied('owner_denied', 'x'), 400],
    ['too many attempts', tooManyAttempts('rate_limited', 'x', 7), 429],
    ['an error with its own status', ownStatus, 403],
  ])('is the usual one for %s', (_what, error, status) => {
    expect(statusOf(error)).toBe(status)
  })

  it('is the one that an endpoint has for the code, unless the error has its own', () => {
    const byCode = { access_denied: 404, temporarily_unavailable: 400 }
    expect(statusOf(accessDenied('owner_denied', 'x'), byCode)).toBe(404)
    expect(statusOf(ownStatus, byCode)).toBe(403)
    expect(statusOf(tooManyAttempts('rate_limited', 'x', 7), byCode)).toBe(429)
    expect(statusOf(new OAuthError('toString', 'own_reason', 'x'), byCode)).toBe(400)
  })
})

describe('headersOf', () => {
  it.each([
    ['a refusal', accessDenied('owner_denied', 'x'), {}],
    ['trouble of the server', temporarilyUnavailable('closing', 'x'), { 'Retry-After': '1' }],
    ['too many attempts', tooManyAttempts('rate_limited', 'x', 7), { 'Retry-After': '7' }],
    [
      'an error with its own headers',
      new OAuthError('temporarily_unavailable', 'own_reason', 'x', {
        headers: { 'Retry-After': '30', 'X-Why': 'own' },
      }),
      { 'Retry-After': '30', 'X-Why': 'own' },
    ],
  ])('are those of %s', (_what, error, headers) => {
    expect(headersOf(error)).toEqual(headers)
  })
})

test('the members of an error point to the page of its code', () => {
  const error = { code: 'invalid_scope', description: 'Why.' }
  expect(errorMembers(error, undefined)).toEqual({ error: 'invalid_scope', error_description: 'Why.' })
  expect(errorMembers(error, 'https://photos.example/errors')).toHaveProperty(
    'error_uri',
    'https://photos.example/errors#invalid_scope',
  )
})
