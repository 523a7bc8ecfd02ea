import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { generators, Issuer, type Client, type TokenSet } from 'openid-client5'
import { applicationOf, type Library } from './library-application'

const scope = 'openid profile email'
/** For the way back from a logout. */
const logoutState = 'af0ifjsldkj'
/** Seconds. */
const maxAge = 3600

/** openid-client 6, with its check of signatures. */
export const openIdClient6 = applicationOf((registered): Library => {
  const { issuer, clientId, clientSecret, redirectUri, postLogoutRedirectUri } = registered
  let config: client.Configuration
  let checks: client.AuthorizationCodeGrantChecks
  let tokens: client.TokenEndpointResponse & client.TokenEndpointResponseHelpers
  const person = async () => {
    const { sub = '' } = tokens.claims() ?? {}
    return client.fetchUserInfo(config, tokens.access_token, sub)
  }
  return {
    async begin() {
      const execute = [client.allowInsecureRequests, client.enableNonRepudiationChecks]
      config = await client.discovery(new URL(issuer), clientId, clientSecret, undefined, { execute })
      const pkceCodeVerifier = client.randomPKCECodeVerifier()
      const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()]
      checks = { pkceCodeVerifier, expectedState, expectedNonce, maxAge }
      return client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope,
        nonce: expectedNonce,
        state: expectedState,
        max_age: String(maxAge),
        code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      })
    },
    async finish(response) {
      tokens = await client.authorizationCodeGrant(config, response, checks)
      return person()
    },
    async refresh() {
      tokens = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
      return person()
    },
    end: () =>
      client.buildEndSessionUrl(config, {
        id_token_hint: tokens.id_token ?? '',
        post_logout_redirect_uri: postLogoutRedirectUri,
        state: logoutState,
      }),
  }
})

export const openIdClient5 = applicationOf((registered): Library => {
  const { issuer, clientId, clientSecret, redirectUri, postLogoutRedirectUri } = registered
  let party: Client
  let checks: { readonly code_verifier: string; readonly state: string; readonly nonce: string }
  let tokens: TokenSet
  return {
    async begin() {
      const server = await Issuer.discover(issuer)
      party = new server.Client({
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [postLogoutRedirectUri],
      })
      const [state, nonce] = [generators.state(), generators.nonce()]
      checks = { code_verifier: generators.codeVerifier(), state, nonce }
      const challenge = generators.codeChallenge(checks.code_verifier)
      const url = party.authorizationUrl({
        scope,
        state,
        nonce,
        max_age: maxAge,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      })
      return new URL(url)
    },
    async finish(response) {
      tokens = await party.callback(redirectUri, party.callbackParams(response.href), {
        ...checks,
        max_age: maxAge,
      })
      return party.userinfo(tokens)
    },
    async refresh() {
      tokens = await party.refresh(tokens)
      return party.userinfo(tokens)
    },
    end: () => new URL(party.endSessionUrl({ id_token_hint: tokens, state: logoutState })),
  }
})

const insecure = { [oauth.allowInsecureRequests]: true }

/** oauth4webapi, with its check of signatures. It builds no URLs: the application does. */
export const oauth4webapi = applicationOf((registered): Library => {
  const { issuer, clientId, clientSecret, redirectUri, postLogoutRedirectUri } = registered
  const party = { client_id: clientId }
  const authentication = oauth.ClientSecretBasic(clientSecret)
  let server: oauth.AuthorizationServer
  let checks: { readonly codeVerifier: string; readonly state: string; readonly nonce: string }
  let tokens: oauth.TokenEndpointResponse
  const person = async () => {
    const { sub = '' } = oauth.getValidatedIdTokenClaims(tokens) ?? {}
    const response = await oauth.userInfoRequest(server, party, tokens.access_token, insecure)
    return oauth.processUserInfoResponse(server, party, sub, response)
  }
  return {
    async begin() {
      const discovery = await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oidc', ...insecure })
      server = await oauth.processDiscoveryResponse(new URL(issuer), discovery)
      const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()]
      checks = { codeVerifier: oauth.generateRandomCodeVerifier(), state, nonce }
      return urlOf(server.authorization_endpoint, {
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope,
        state,
        nonce,
        max_age: String(maxAge),
        code_challenge: await oauth.calculatePKCECodeChallenge(checks.codeVerifier),
        code_challenge_method: 'S256',
      })
    },
    async finish(response) {
      const parameters = oauth.validateAuthResponse(server, party, response, checks.state)
      const answer = await oauth.authorizationCodeGrantRequest(
        server,
        party,
        authentication,
        parameters,
        redirectUri,
        checks.codeVerifier,
        insecure,
      )
      tokens = await oauth.processAuthorizationCodeResponse(server, party, answer, {
        expectedNonce: checks.nonce,
        requireIdToken: true,
        maxAge,
      })
      await oauth.validateApplicationLevelSignature(server, answer, insecure)
      return person()
    },
    async refresh() {
      const refreshToken = tokens.refresh_token ?? ''
      const answer = await oauth.refreshTokenGrantRequest(
        server,
        party,
        authentication,
        refreshToken,
        insecure,
      )
      tokens = await oauth.processRefreshTokenResponse(server, party, answer)
      return person()
    },
    end: () =>
      urlOf(server.end_session_endpoint, {
        id_token_hint: tokens.id_token ?? '',
        post_logout_redirect_uri: postLogoutRedirectUri,
        state: logoutState,
      }),
  }
})

function urlOf(endpoint: string | undefined, parameters: Readonly<Record<string, string>>): URL {
  const url = new URL(endpoint ?? '')
  url.search = new URLSearchParams(parameters).toString()
  return url
}
