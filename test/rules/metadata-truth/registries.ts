/**
 * The values that a client may know from the registries of IANA and from documents in the field. A server lists some of
 * them; the others must not work there.
 */
const urn = 'urn:ietf:params:oauth:grant-type:'

export const grantTypes = [
  'authorization_code',
  'implicit',
  'password',
  'client_credentials',
  'refresh_token',
  `${urn}jwt-bearer`,
  `${urn}saml2-bearer`,
  `${urn}token-exchange`,
  `${urn}device_code`,
  `${urn}uma-ticket`,
  `${urn}pre-authorized_code`,
  'urn:openid:params:grant-type:ciba',
]

export const responseTypes = [
  'code',
  'token',
  'code token',
  'id_token',
  'id_token token',
  'code id_token',
  'code id_token token',
  'none',
]

/** Of OpenID Connect Core 3.1.2.1, and of Initiating User Registration. */
export const promptValues = ['none', 'login', 'consent', 'select_account', 'create']

export const responseModes = [
  'query',
  'fragment',
  'form_post',
  'web_message',
  'jwt',
  'query.jwt',
  'fragment.jwt',
]

export const authenticationMethods = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  'client_secret_jwt',
  'private_key_jwt',
  'tls_client_auth',
  'self_signed_tls_client_auth',
]

export const signingAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'ES256K',
  'HS256',
  'HS384',
  'HS512',
  'none',
]

export const challengeMethods = ['S256', 'plain', 'S512']

export const scopes = ['openid', 'profile', 'email', 'offline_access', 'address', 'phone']

/** Where servers have their further endpoints. */
export const endpointPaths: Readonly<Record<string, string>> = {
  registration_endpoint: '/register',
  pushed_authorization_request_endpoint: '/par',
  device_authorization_endpoint: '/device_authorization',
  backchannel_authentication_endpoint: '/bc-authorize',
  userinfo_endpoint: '/userinfo',
  jwks_uri: '/jwks',
  end_session_endpoint: '/end_session',
  check_session_iframe: '/check_session',
  challenge_endpoint: '/challenge',
  whoami_endpoint: '/whoami',
}
