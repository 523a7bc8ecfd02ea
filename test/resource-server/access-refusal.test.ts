import { AccessRefusal } from '../../lib/resource-server/access-refusal'

const scope = ['photos.read', 'photos.write']

describe('AccessRefusal: the challenge, to the letter', () => {
  it.each([
    ['without a token', AccessRefusal.noToken([]), 401, 'Bearer realm="oauth"'],
    [
      'without a token where scope is needed',
      AccessRefusal.noToken(scope),
      401,
      'Bearer realm="oauth", scope="photos.read photos.write"',
    ],
    [
      'that is malformed',
      AccessRefusal.malformed('token_malformed', []),
      400,
      'Bearer realm="oauth", error="invalid_request", error_description="The request does not carry one access token in one Authorization header."',
    ],
    [
      'with a bad token',
      AccessRefusal.badToken('token_invalid', scope),
      401,
      'Bearer realm="oauth", scope="photos.read photos.write", error="invalid_token", error_description="The access token is unknown, expired or revoked."',
    ],
    [
      'with too little scope',
      AccessRefusal.insufficientScope(scope),
      403,
      'Bearer realm="oauth", scope="photos.read photos.write", error="insufficient_scope", error_description="The access token does not have the scope that this resource needs."',
    ],
  ])('of a request %s', (_what, refusal, status, challenge) => {
    expect(refusal.status).toBe(status)
    expect(refusal.challenge('Bearer', 'oauth', undefined)).toBe(challenge)
  })

  it('names the scheme and the realm it is given', () => {
    expect(AccessRefusal.noToken([]).challenge('MAC', 'photos', undefined)).toBe('MAC realm="photos"')
  })

  it('points to the page of its code, and tells nothing where no token was shown', () => {
    const page = 'https://photos.example/errors'
    expect(AccessRefusal.badToken('token_invalid', []).challenge('Bearer', 'oauth', page)).toContain(
      ', error_uri="https://photos.example/errors#invalid_token"',
    )
    expect(AccessRefusal.noToken([]).challenge('Bearer', 'oauth', page)).toBe('Bearer realm="oauth"')
  })

  it('holds descriptions of the characters that RFC 6750 3 allows', () => {
    for (const { description } of [
      AccessRefusal.noToken([]),
      AccessRefusal.malformed('token_malformed', []),
      AccessRefusal.badToken('token_invalid', []),
      AccessRefusal.insufficientScope([]),
    ])
      expect(description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
  })

  it.each([
    [AccessRefusal.noToken([]), undefined, 'token_missing'],
    [
      AccessRefusal.malformed('several_authorization_headers', []),
      'invalid_request',
      'several_authorization_headers',
    ],
    [AccessRefusal.badToken('token_invalid', []), 'invalid_token', 'token_invalid'],
    [AccessRefusal.insufficientScope([]), 'insufficient_scope', 'token_scope_insufficient'],
  ])('is an error with code and reason: %s', (refusal, code, reason) => {
    expect(refusal).toBeInstanceOf(Error)
    expect(refusal).toMatchObject({ name: 'AccessRefusal', code, reason, message: refusal.description })
  })
})
