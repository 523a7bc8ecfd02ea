import type { PlugIn, PlugInServer } from '../config/plug-in'
import { isSigningKeys, noKeys, type SigningKeys } from '../jwt/signing-keys/signing-keys'
import {
  isSigningAlgorithm,
  type SigningAlgorithm,
  signingAlgorithms,
} from '../jwt/signing-keys/signing-algorithm'
import { isBoolean, isText, isWhole, OptionsReader } from '../primitives/options-reader'
import type { Extension, ExtensionTokenResponse, TokenResponseAddition } from '../protocol/extension'
import { loginRequired } from '../protocol/oauth-error'
import { endSessionPage } from './end-session'
import { hintedSubject, type IdTokenTerms, signIdToken } from './id-token'
import { identityParameters, keptIn, keptOf, parseIdentityRequest } from './identity-request'
import { claimsFor, identityScopes, type OwnerClaims } from './owner-claims'
import { userInfoEndpoint } from './user-info'

/** Options of {@link openIdConnect}. */
export interface OpenIdConnectOptions {
  /** The keys that sign ID tokens. They stand before this plug-in in the option `plugIns`. */
  readonly keys: SigningKeys
  /** What the host knows about a resource owner. Default: nothing besides the subject. */
  readonly claims?: OwnerClaims
  /** The algorithm of ID tokens. Many clients know only `RS256`. Default `RS256`. */
  readonly algorithm?: SigningAlgorithm
  /** How long an ID token is good, in whole seconds, 60 to 86 400. Default 3600. */
  readonly idTokenLifetime?: number
  /**
   * Whether the server reads the parameter `claims` (OpenID Connect Core 5.5), so that clients may ask for single claims,
   * without a scope that the owner has approved. Default false.
   */
  readonly claimsParameter?: boolean
  /** The path of the UserInfo endpoint below the issuer. Default `/userinfo`. */
  readonly userInfoPath?: string
  /** The path of the logout endpoint below the issuer, which exists with the option `logOut` of the server. Default `/logout`. */
  readonly endSessionPath?: string
}

// Seconds after its issue for which an ID token is good as a hint, whatever its end: clients keep it for the logout.
const hintLifetime = 30 * 24 * 3600

/** The name of the extension, under which an authorization keeps its request. */
const name = 'openid-connect'

/**
 * OpenID Connect Core 1.0 with the code flow, and Discovery: a request with the scope `openid` gets an ID token, and the
 * UserInfo endpoint tells claims about the owner. The option `scopes` of the server needs `openid`, and what clients may
 * ask for of `profile`, `email`, `address` and `phone`. Refresh tokens come by the registration of a client, so the scope
 * `offline_access` has no effect. Needs the package jose.
 *
 * @throws ConfigurationError that lists every mistake in the options, each with its path and cure.
 */
export function openIdConnect(options: OpenIdConnectOptions): PlugIn {
  const { keys, claims, algorithm, lifetime, takesClaims, userInfoPath, endSessionPath } =
    readOptions(options)
  return {
    name,
    open(server) {
      const ring = keys.ringOf(server)
      if (!ring.algorithms.includes(algorithm))
        throw new Error(
          `signs with ${algorithm}, but its keys have ${ring.algorithms.join(', ')}: signingKeys({ secrets, algorithms: ['${algorithm}', …] }).`,
        )
      if (!server.scopes.includes('openid'))
        throw new Error("needs the scope openid: scopes: { openid: 'Know who you are', … }.")
      ring.outlive(Math.max(lifetime, hintLifetime))
      const terms = { issuer: server.issuer, ring, algorithm, lifetime }
      const userInfo = userInfoEndpoint(server, name, userInfoPath, claims)
      return {
        endpoints: server.canLogOut ? [userInfo, endSessionPage(server, terms, endSessionPath)] : [userInfo],
        extensions: [identity(server, terms, claims, takesClaims)],
        resources: [
          {
            uri: server.urlOf(userInfoPath),
            scopes: identityScopes.filter((scope) => server.scopes.includes(scope)),
          },
        ],
      }
    },
  }
}

function identity(
  server: PlugInServer,
  terms: IdTokenTerms,
  claims: OwnerClaims,
  takesClaims: boolean,
): Extension {
  return {
    name,
    authorizationParameters: identityParameters,
    metadata: {
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [terms.algorithm],
      claims_parameter_supported: takesClaims,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    },

    atAuthorizationRequest({ parameters }) {
      const request = parseIdentityRequest(parameters, takesClaims)
      return request && keptOf(request)
    },

    async atResourceOwner(owner, { client, parameters, loginDemandedAt }) {
      const hint = parameters.get('id_token_hint')
      if (hint === undefined) return undefined
      const subject = await hintedSubject(terms, hint, client.client_id)
      if (owner === undefined || owner.subject === subject) return undefined
      // OpenID Connect Core 3.1.2.1: the client asks for this owner, who may log in now. No other one may answer.
      if (loginDemandedAt === undefined) return 'log in'
      throw loginRequired('owner_not_hinted', 'Another owner is logged in than the request names.')
    },

    atTokenResponse: (response) => idTokenFor(response, terms, claims, server.now()),
  }
}

async function idTokenFor(
  { authorizationData, client, grantType, scope, subject, login, accessToken }: ExtensionTokenResponse,
  terms: IdTokenTerms,
  ownerClaims: OwnerClaims,
  now: number,
): Promise<TokenResponseAddition | undefined> {
  const request = keptIn(authorizationData)
  if (request === undefined || subject === undefined || !scope.includes('openid')) return undefined
  // The authorization endpoint gives no ID token: there is no implicit and no hybrid flow.
  if (grantType === 'implicit') return undefined
  const { client_id: clientId } = client
  const names = request.idToken
  const claims =
    names.length === 0 ? {} : ((await claimsFor(ownerClaims, subject, { clientId, scope, names })) ?? {})
  // OpenID Connect Core 12.2: a refresh has no nonce.
  const nonce = grantType === 'refresh_token' ? undefined : request.nonce
  return {
    members: {
      id_token: await signIdToken(terms, { subject, clientId, login, nonce, accessToken, claims }, now),
    },
  }
}

function readOptions(options: unknown) {
  const reading = new OptionsReader(options, '')
  const read = {
    keys: reading.required<SigningKeys>(
      'keys',
      noKeys,
      isSigningKeys,
      'must be signingKeys({ secrets, algorithms }).',
    ),
    claims: reading.optional<OwnerClaims>('claims', () => ({}), isOwnerClaims, 'must be a function.'),
    algorithm: reading.optional<SigningAlgorithm>(
      'algorithm',
      'RS256',
      isSigningAlgorithm,
      `must be one of ${signingAlgorithms.join(', ')}.`,
    ),
    lifetime: reading.optional(
      'idTokenLifetime',
      3600,
      isWhole(60, 86_400),
      'must be whole seconds, 60 to 86400.',
    ),
    takesClaims: reading.optional('claimsParameter', false, isBoolean, 'must be true or false.'),
    endSessionPath: reading.optional(
      'endSessionPath',
      '/logout',
      isPath,
      "must be a path such as '/logout'.",
    ),
    userInfoPath: reading.optional(
      'userInfoPath',
      '/userinfo',
      isPath,
      "must be a path such as '/userinfo'.",
    ),
  }
  reading.refuseUnknown()
  reading.throwIssues('openIdConnect() cannot work with these options:')
  return read
}

const isPath = (value: unknown): value is string => isText(value) && value.startsWith('/')
const isOwnerClaims = (value: unknown): value is OwnerClaims => typeof value === 'function'
