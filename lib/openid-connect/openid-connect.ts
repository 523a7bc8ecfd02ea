import { aCall, aFlag, aPath, aSecret, someSeconds } from '../primitives/fields'
import { type Fields, group, needed, optional, type Read, readOptions, usual } from '../primitives/schema'
import type { Plugin, PluginParts } from '../doors/plug-in'
import { audienceIn } from '../extensions/resource-indicators/resource-indicators'
import { keysOf, type SigningKeys } from '../jwt/signing-keys/signing-keys'
import { signingAlgorithm, type SigningAlgorithm } from '../jwt/signing-keys/signing-key'
import { claimsFact } from '../pages/consent-page'
import { isTexts } from '../primitives/values'
import type { Endpoint } from '../protocol/endpoint'
import { dataOf } from '../protocol/extension-data'
import type { ExtensionTokenResponse, TokenResponseAddition } from '../protocol/extension'
import { offlineAccess } from '../protocol/scope'
import { badToken, otherAudience } from '../resource-server/challenge'
import {
  type AnnounceLogout,
  announcing,
  type BackChannelLogoutOptions,
  backChannelLogoutOption,
} from './back-channel-logout'
import { algorithmOf, hasScopeClaims, identityMembers, loginDefaultsOf } from './client-members'
import { endSessionPage } from './end-session'
import { hintedSubject, type IdentityTerms, signIdToken } from './id-token'
import {
  approvedClaims,
  claimsOfIdTokens,
  identityParameters,
  identityRequestIn,
  identityDataOf,
  parseIdentityRequest,
  refusalOf,
  requireAuthTime,
} from './identity-request'
import {
  claimsFor,
  identityScopes,
  type OwnerClaims,
  pairwiseSubjects,
  publicSubject,
  scopeClaims,
} from './owner-claims'

declare module '../protocol/client' {
  interface ClientRegistration {
    /**
     * With `openIdConnect()`. Whether the client gets the identifiers of the host, or those of its sector
     * (OpenID Connect Core 8). `pairwise` needs the option `pairwise`. Default `public`.
     */
    readonly subject_type?: 'public' | 'pairwise' | undefined
    /**
     * With `openIdConnect()`. The https URL of a JSON list with every redirection URI of the sector, at most
     * 2048 characters, whose host names the sector. Not fetched for a registration of the host. Default: the
     * one host of all redirection URIs.
     */
    readonly sector_identifier_uri?: string | undefined
    /**
     * With `openIdConnect()`. The algorithm of the ID tokens. Default: the option `algorithm`; for a client
     * that registers itself, `RS256`.
     */
    readonly id_token_signed_response_alg?: SigningAlgorithm | undefined
    /** With `openIdConnect()`. `max_age` of a request that names none, in whole seconds. Default: any age. */
    readonly default_max_age?: number | undefined
    /** With `openIdConnect()`. Whether an ID token must have `auth_time`. Default `false`. */
    readonly require_auth_time?: boolean | undefined
    /**
     * With `openIdConnect()`. Whether ID tokens have the claims of the approved scopes. Default: the option
     * `idTokenClaims`.
     */
    readonly id_token_claims?: boolean | undefined
    /**
     * With `openIdConnect()`. `acr_values` of a request that names none, the preferred one first. Default
     * none.
     */
    readonly default_acr_values?: readonly string[] | undefined
    /**
     * With `openIdConnect()`. The https URL at which others may let the client begin a login (OpenID Connect
     * Core 4). Default none.
     */
    readonly initiate_login_uri?: string | undefined
    /**
     * With `openIdConnect()`. Where the client hears of a logout (OpenID Connect Back-Channel Logout 1.0): an
     * https URL, or an http one on loopback, without a fragment, at most 2048 characters. Default: nowhere.
     */
    readonly backchannel_logout_uri?: string | undefined
    /** With `openIdConnect()`. Only `false`: the server has no `sid`. Default `false`. */
    readonly backchannel_logout_session_required?: false | undefined
  }
}

/** Options of {@link openIdConnect}. */
export interface OpenIdConnectOptions {
  /** They stand before this plug-in in the option `plugins`. */
  readonly keys: SigningKeys
  /** Default: nothing but the subject. */
  readonly claims?: OwnerClaims
  /**
   * The algorithm of ID tokens for clients of the host without `id_token_signed_response_alg`;
   * self-registered ones get `RS256`, which the keys must have (OpenID Connect Discovery 3). Default `RS256`.
   */
  readonly algorithm?: SigningAlgorithm
  /**
   * Allows clients with `subject_type` `pairwise`: each sector gets its own `sub` for an owner (OpenID
   * Connect Core 8.1). `secret`: 32 bytes at least, the same in all processes, for ever: another one loses
   * every account at these clients. Default: `public` only.
   */
  readonly pairwise?: { readonly secret: string }
  /** Whole seconds, 60 to 86 400. Default 3600. */
  readonly idTokenLifetime?: number
  /**
   * Whether clients may ask for single claims by the parameter `claims` (OpenID Connect Core 5.5). The
   * consent page names those beyond the scopes. Default false.
   */
  readonly claimsParameter?: boolean
  /**
   * Whether ID tokens have the claims of the approved scopes, for clients that read nothing else, such as
   * Kubernetes; `id_token_claims` of a registration comes first. Default false: the UserInfo endpoint alone
   * (OpenID Connect Core 5.4).
   */
  readonly idTokenClaims?: boolean
  /**
   * Whether clients with a `backchannel_logout_uri` hear of a logout of an owner, at the logout endpoint and
   * by {@link OpenIdConnect.announceLogout} (OpenID Connect Back-Channel Logout 1.0). The server then writes
   * the record of the owner. Default false.
   */
  readonly backChannelLogout?: boolean | BackChannelLogoutOptions
  /** Below the issuer. Default `/userinfo`. */
  readonly userInfoPath?: string
  /** Below the issuer, with the option `logOut` of the server. Default `/logout`. */
  readonly endSessionPath?: string
}

export interface OpenIdConnect extends Plugin {
  /**
   * Tells the clients of an owner of a logout at the host itself. Settles after the last attempt, and never
   * rejects. The event `failure` names clients that it could not tell.
   *
   * @throws Error without the option `backChannelLogout`, and before a server has opened the plug-in.
   */
  announceLogout(subject: string): Promise<void>
}

// Seconds. An expired ID token is a hint for the logout.
const hintLifetime = 30 * 24 * 3600

const name = 'openid-connect'

/**
 * OpenID Connect Core 1.0 with the code flow, and Discovery: the scope `openid` gets an ID token, and the
 * UserInfo endpoint tells claims. The option `scopes` of the server needs `openid`, and what clients may ask
 * for of `profile`, `email`, `address` and `phone`. The scope `offline_access` has no effect.
 *
 * @throws ConfigurationError that lists every mistake.
 */
export function openIdConnect(options: OpenIdConnectOptions): OpenIdConnect {
  const read = readOptions('openIdConnect()', fields, options, { undefinedMembers: 'refused' })
  const { keys, algorithm, idTokenLifetime: lifetime, pairwise, backChannelLogout } = read
  const { userInfoPath, endSessionPath } = read
  const subjectFor = pairwise === undefined ? publicSubject : pairwiseSubjects(pairwise.secret)
  const announcements: AnnounceLogout[] = []
  return {
    name,
    async announceLogout(subject) {
      if (announcements.length === 0)
        throw new Error(
          'announceLogout() needs the option backChannelLogout of openIdConnect(), and a server.',
        )
      await Promise.all(announcements.map((announce) => announce(subject)))
    },
    open(server) {
      const ring = keys.ringOf(server)
      requireAlgorithms(ring.algorithms, algorithm)
      if (!server.scopes.has('openid'))
        throw new Error("needs the scope openid: scopes: { openid: 'Know who you are', … }.")
      const byScope = scopeClaims(server.scopes)
      refuseClaimsOfTokens(byScope.ofHost([...server.scopes.keys()]))
      ring.outlive(Math.max(lifetime, hintLifetime))
      const terms = { ...read, server, ring, lifetime, subjectFor, byScope }
      const announce = backChannelLogout && announcing(terms, backChannelLogout)
      if (announce !== undefined) announcements.push(announce)
      const userInfo = userInfoEndpoint(terms, userInfoPath)
      const announces = announce !== undefined
      return {
        endpoints: server.canLogOut
          ? [userInfo, endSessionPage(terms, endSessionPath, announce)]
          : [userInfo],
        ...identity(terms, announces),
        // While a client has an ID token.
        ...(announces && { indexSeconds: hintLifetime }),
        clientMembers: identityMembers(server.issuer, ring.algorithms, subjectFor, announces),
        resources: [
          {
            uri: server.urlOf(userInfoPath),
            scopes: identityScopes.filter((scope) => server.scopes.has(scope)),
          },
        ],
      }
    },
  }
}

function requireAlgorithms(present: readonly SigningAlgorithm[], own: SigningAlgorithm): void {
  // OpenID Connect Discovery 3.
  const required = [...new Set<SigningAlgorithm>([own, 'RS256'])]
  if (required.every((each) => present.includes(each))) return
  throw new Error(
    `needs keys for ${required.join(' and ')}, because it signs with ${own} and each server of OpenID Connect offers RS256, but its keys have ${present.join(', ')}: signingKeys({ secrets, algorithms: ['${required.join("', '")}', …] }).`,
  )
}

function refuseClaimsOfTokens(names: readonly string[]): void {
  const taken = names.find((each) => claimsOfIdTokens.includes(each))
  if (taken !== undefined)
    throw new Error(
      `cannot give "${taken}" by a scope (scopes: { …: { claims } }): the server itself writes it.`,
    )
}

type Terms = IdentityTerms & Read<typeof fields>

function identity(terms: Terms, announces: boolean): PluginParts {
  const { server, algorithm, ring, subjectFor, claims, byScope, claimsParameter: takesClaims } = terms
  const hasPairwise = subjectFor !== publicSubject
  return {
    authorizationParameters: identityParameters,
    // OpenID Connect Core 11: it grants no offline access.
    ignoredScope: [offlineAccess],
    authorizationMetadata: {
      // Back-Channel Logout 1.0, 2.1. Only the host knows sessions.
      ...(announces && { backchannel_logout_supported: true, backchannel_logout_session_supported: false }),
      subject_types_supported: hasPairwise ? ['public', 'pairwise'] : ['public'],
      id_token_signing_alg_values_supported: [...new Set([algorithm, ...ring.algorithms])],
      claims_supported: [
        ...claimsOfIdTokens,
        ...(claims === noClaims ? [] : byScope.all([...server.scopes.keys()])),
      ],
      claims_parameter_supported: takesClaims,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    },

    async authorize(asked) {
      const { client, parameters, owner, loginDemandedAt } = asked
      const request = parseIdentityRequest(asked, takesClaims, byScope)
      const hint = parameters.get('id_token_hint')
      const hinted = hint === undefined ? undefined : await hintedSubject(terms, hint, client.client_id)
      const { acrValues = [] } = request ?? {}
      const asKnown = owner && { ...owner, subject: subjectFor(owner.subject, client) }
      const refusal = asKnown && refusalOf(asKnown, client, hinted, request)
      // OpenID Connect Core 3.1.2.1: only this owner may answer, and may log in now.
      if (refusal !== undefined && loginDemandedAt !== undefined) throw refusal
      const isMissing = refusal !== undefined || (owner === undefined && acrValues.length > 0)
      return {
        ...loginDefaultsOf(client),
        ...(request && {
          data: identityDataOf(request),
          // OpenID Connect Core 3.1.2.4: the owner approves what the client gets.
          facts: claimsFact([...request.beyondScope, ...byScope.ofHost(asked.scope)]),
        }),
        ...(isMissing && { logIn: { acrValues } }),
      }
    },

    respond: (response) => idTokenFor(response, terms),
  }
}

async function idTokenFor(
  { authorizationData, client, grantType, scope, subject, login, accessToken }: ExtensionTokenResponse,
  terms: Terms,
): Promise<TokenResponseAddition | undefined> {
  const request = identityRequestIn(authorizationData)
  if (request === undefined || subject === undefined || !scope.includes('openid')) return undefined
  // No implicit and no hybrid flow.
  if (grantType === 'implicit') return undefined
  requireAuthTime(client, login)
  const { client_id: clientId } = client
  const ofScope = terms.byScope.all(scope)
  const asked = approvedClaims(request.idToken, request, ofScope)
  const names = hasScopeClaims(client, terms.idTokenClaims) ? [...new Set([...ofScope, ...asked])] : asked
  const claims =
    names.length === 0 ? {} : ((await claimsFor(terms.claims, subject, { clientId, scope, names })) ?? {})
  // OpenID Connect Core 12.2: a refresh has no nonce.
  const nonce = grantType === 'refresh_token' ? undefined : request.nonce
  const algorithm = algorithmOf(client, terms.ring.algorithms, terms.algorithm)
  const content = { subject: terms.subjectFor(subject, client), clientId, login, nonce, accessToken, claims }
  return { members: { id_token: await signIdToken(terms, algorithm, content) } }
}

const scopeOfUserInfo = ['openid']

/** OpenID Connect Core 5.3 */
function userInfoEndpoint(terms: Terms, path: string): Endpoint {
  const { server, claims, byScope, subjectFor } = terms
  const own = server.urlOf(path)
  return {
    name: 'userinfo',
    path,
    method: ['GET', 'POST'],
    clientAuthentication: 'none',
    cors: true,
    async handle(request) {
      const found = await server.admit(request, 'openid')
      const { subject, scope, clientId } = found.access
      const audience = audienceIn(found)
      // Without resources, a token is for everything.
      if (audience !== undefined && !(isTexts(audience) && audience.includes(own)))
        throw badToken('token_resource', scopeOfUserInfo, otherAudience(audience, [own]))
      if (subject === undefined) throw badToken('token_invalid', scopeOfUserInfo)
      const asked = identityRequestIn(dataOf(name, found.extensionData))
      const ofScope = byScope.all(scope)
      const names = [...ofScope, ...approvedClaims(asked?.userInfo ?? [], asked, ofScope)]
      const known = await claimsFor(claims, subject, { clientId, scope, names })
      if (known === undefined) throw badToken('token_invalid', scopeOfUserInfo, { cause: 'no_claims' })
      if (subjectFor === publicSubject) return { members: { ...known, sub: subject } }
      const client = await server.findClient(clientId)
      // The subject of the host must not stand in.
      if (client === undefined) throw badToken('token_invalid', scopeOfUserInfo)
      return { members: { ...known, sub: subjectFor(subject, client) } }
    },
  }
}

const noClaims: OwnerClaims = () => ({})

const fields = {
  keys: keysOf('signingKeys({ secrets, algorithms })'),
  claims: usual<OwnerClaims>(noClaims, aCall<OwnerClaims>()),
  algorithm: usual<SigningAlgorithm>('RS256', signingAlgorithm),
  pairwise: optional(group({ secret: needed('', aSecret) })),
  idTokenLifetime: someSeconds(3600, 60, 86_400),
  claimsParameter: aFlag(false),
  idTokenClaims: aFlag(false),
  backChannelLogout: backChannelLogoutOption,
  userInfoPath: aPath('/userinfo'),
  endSessionPath: aPath('/logout'),
} satisfies Fields<OpenIdConnectOptions>
