import * as oauth from 'oauth4webapi'

export const insecure = { [oauth.allowInsecureRequests]: true }

/** What oauth4webapi finds at an issuer. */
export async function discovered(
  issuer: string,
  options: object = insecure,
): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer)
  return oauth.processDiscoveryResponse(
    url,
    await oauth.discoveryRequest(url, { algorithm: 'oauth2', ...options }),
  )
}

/** A client in the hands of oauth4webapi: each request with the reading of its answer. */
export class Party {
  readonly client: { readonly client_id: string }

  constructor(
    readonly server: oauth.AuthorizationServer,
    client_id: string,
    readonly authentication: oauth.ClientAuth = oauth.None(),
    readonly options: object = insecure,
  ) {
    this.client = { client_id }
  }

  /** A request for authorization, with its verifier. */
  async request(redirect_uri: string, more: Readonly<Record<string, string>> = {}) {
    const verifier = oauth.generateRandomCodeVerifier()
    const parameters = new URLSearchParams({
      ...this.client,
      redirect_uri,
      response_type: 'code',
      scope: 'photos:read',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...more,
    })
    return { parameters, verifier, url: this.at(parameters) }
  }

  /** The authorization endpoint with these parameters. */
  at(parameters: URLSearchParams): URL {
    return new URL(`${this.server.authorization_endpoint}?${parameters.toString()}`)
  }

  async redeem(answer: URLSearchParams, redirectUri: string, verifier: string, more: object = {}) {
    const { server, client, authentication, options } = this
    const given = [server, client, authentication, answer, redirectUri, verifier] as const
    const response = await oauth.authorizationCodeGrantRequest(...given, { ...options, ...more })
    return oauth.processAuthorizationCodeResponse(server, client, response)
  }

  async refresh(token = '', more: object = {}) {
    const { server, client, authentication, options } = this
    const given = [server, client, authentication, token] as const
    const response = await oauth.refreshTokenGrantRequest(...given, { ...options, ...more })
    return oauth.processRefreshTokenResponse(server, client, response)
  }

  /** Gets a token for itself. */
  async enter(authentication = this.authentication) {
    const { server, client, options } = this
    const asked = { scope: 'photos:read' }
    const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, asked, options)
    return oauth.processClientCredentialsResponse(server, client, response)
  }

  async grant(grantType: string, parameters: URLSearchParams) {
    const { server, client, authentication, options } = this
    const given = [server, client, authentication, grantType, parameters] as const
    const response = await oauth.genericTokenEndpointRequest(...given, options)
    return oauth.processGenericTokenEndpointResponse(server, client, response)
  }

  async push(parameters: URLSearchParams, more: object = {}) {
    const { server, client, authentication, options } = this
    const given = [server, client, authentication, parameters] as const
    const response = await oauth.pushedAuthorizationRequest(...given, { ...options, ...more })
    return oauth.processPushedAuthorizationResponse(server, client, response)
  }

  async introspect(token: string) {
    const { server, client, authentication, options } = this
    const response = await oauth.introspectionRequest(server, client, authentication, token, options)
    return oauth.processIntrospectionResponse(server, client, response)
  }

  async revoke(token: string) {
    const { server, client, authentication, options } = this
    return oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, authentication, token, options),
    )
  }
}
