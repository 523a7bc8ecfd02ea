import { serverMetadata, type Offer } from '../../lib/endpoints/server-metadata'

const offer: Offer = {
  issuer: 'https://photos.example/oauth',
  endpoints: [
    { name: 'token', path: '/t', hasForm: true },
    { name: 'revocation', path: '/r', clientAuthentication: 'required', hasForm: true },
    { name: 'introspection', path: '/i', clientAuthentication: 'confidential', hasForm: true },
  ],
  scopes: ['photos.read'],
  grantTypes: ['authorization_code', 'refresh_token'],
  authenticationMethods: [
    { name: 'client_secret_basic', scheme: 'Basic' },
    { name: 'none', scheme: 'Basic' },
  ],
  extensionMembers: { code_challenge_methods_supported: ['S256'], issuer: 'https://elsewhere.example' },
  authorization: {
    path: '/a',
    responseTypes: ['code'],
    responseModes: ['query'],
    promptValues: ['none'],
  },
}

describe('serverMetadata', () => {
  it('says all that is offered, under its registered names', () => {
    expect(serverMetadata(offer)).toEqual({
      issuer: 'https://photos.example/oauth',
      authorization_endpoint: 'https://photos.example/oauth/a',
      token_endpoint: 'https://photos.example/oauth/t',
      revocation_endpoint: 'https://photos.example/oauth/r',
      introspection_endpoint: 'https://photos.example/oauth/i',
      scopes_supported: ['photos.read'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      prompt_values_supported: ['none'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
      introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    })
  })

  it('says for each endpoint what may sign the assertions of clients, where there are any', () => {
    const authenticationMethods = [
      ...offer.authenticationMethods,
      { name: 'private_key_jwt', signingAlgorithms: ['ES256'] },
      { name: 'urn:example:other', signingAlgorithms: ['ES256'] },
    ]
    expect(serverMetadata({ ...offer, authenticationMethods })).toMatchObject({
      token_endpoint_auth_signing_alg_values_supported: ['ES256'],
      revocation_endpoint_auth_signing_alg_values_supported: ['ES256'],
      introspection_endpoint_auth_signing_alg_values_supported: ['ES256'],
    })
  })

  it('says of an endpoint without a form only what clients can put into a header', () => {
    const endpoints = [{ name: 'whoami', path: '/w', hasForm: false }]
    const authenticationMethods = [
      ...offer.authenticationMethods,
      { name: 'private_key_jwt', signingAlgorithms: ['ES256'] },
    ]
    const metadata = serverMetadata({ ...offer, endpoints, authenticationMethods })
    expect(metadata['whoami_endpoint_auth_methods_supported']).toEqual(['client_secret_basic', 'none'])
    expect(metadata).not.toHaveProperty('whoami_endpoint_auth_signing_alg_values_supported')
  })

  it('leaves out what only the authorization endpoint has, where there is none', () => {
    const { authorization: _none, ...rest } = offer
    const metadata = serverMetadata({ ...rest, extensionMembers: {}, authorization: undefined })
    expect(Object.keys(metadata).filter((name) => /authorization|mode|challenge/.test(name))).toEqual([])
    expect(metadata['response_types_supported']).toEqual([])
  })

  it('keeps the issuer as it is, and doubles no slash after it', () => {
    const metadata = serverMetadata({ ...offer, issuer: 'https://photos.example/' })
    expect(metadata['issuer']).toBe('https://photos.example/')
    expect(metadata['token_endpoint']).toBe('https://photos.example/t')
  })
})
