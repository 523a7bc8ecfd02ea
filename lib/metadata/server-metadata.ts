/** What a server offers and where, as its wiring knows it. */
export interface Offer {
  readonly issuer: string
  /** The rows of the endpoint table. */
  readonly endpoints: readonly EndpointOffer[]
  readonly scopes: readonly string[]
  readonly grantTypes: readonly string[]
  /** All methods of client authentication, `none` among them. */
  readonly authenticationMethods: readonly string[]
  /** What signs the assertions of methods such as `private_key_jwt`; empty where there are none. */
  readonly signingAlgorithms: readonly string[]
  /** Members of extensions and of endpoints of the host. The members of the suite win. */
  readonly extensionMembers: ServerMetadata
  /** Undefined for a server that asks no resource owner. */
  readonly authorization: AuthorizationOffer | undefined
}

/** A row of the endpoint table. */
export interface EndpointOffer {
  /** `token` for `token_endpoint`. */
  readonly name: string
  readonly path: string
  /** Default `required`. */
  readonly clientAuthentication?: 'required' | 'confidential' | 'optional' | 'none'
}

export interface AuthorizationOffer {
  readonly path: string
  readonly responseTypes: readonly string[]
  readonly responseModes: readonly string[]
}

/** Authorization server metadata (RFC 8414 2), under its registered names. A member that does not apply is not there. */
export type ServerMetadata = Readonly<Record<string, string | boolean | readonly string[]>>

/** The metadata of a server. */
export function serverMetadata(offer: Offer): ServerMetadata {
  const { authorization, endpoints, scopes } = offer
  const at = (path: string) => offer.issuer.replace(/\/+$/, '') + path
  return {
    ...offer.extensionMembers,
    issuer: offer.issuer,
    ...(authorization === undefined ? {} : { authorization_endpoint: at(authorization.path) }),
    ...Object.fromEntries(endpoints.map(({ name, path }) => [`${name}_endpoint`, at(path)])),
    scopes_supported: scopes,
    // RFC 8414 2 requires it even of a server without an authorization endpoint, and clients insist.
    response_types_supported: authorization?.responseTypes ?? [],
    grant_types_supported: offer.grantTypes,
    ...authenticationMembers(offer),
    ...(authorization === undefined ? {} : authorizationMembers(authorization)),
  }
}

function authenticationMembers({
  endpoints,
  authenticationMethods,
  signingAlgorithms,
}: Offer): ServerMetadata {
  const members: Record<string, readonly string[]> = {}
  const authenticating = endpoints.filter(({ clientAuthentication }) => clientAuthentication !== 'none')
  for (const { name, clientAuthentication } of authenticating)
    members[`${name}_endpoint_auth_methods_supported`] =
      clientAuthentication === 'confidential'
        ? authenticationMethods.filter((method) => method !== 'none')
        : authenticationMethods
  // RFC 8414 2: a server with methods that sign assertions names the algorithms, for each endpoint.
  if (signingAlgorithms.length > 0)
    for (const { name } of authenticating)
      members[`${name}_endpoint_auth_signing_alg_values_supported`] = signingAlgorithms
  return members
}

function authorizationMembers({ responseModes }: AuthorizationOffer): ServerMetadata {
  return {
    response_modes_supported: responseModes,
    // RFC 9207 3
    authorization_response_iss_parameter_supported: true,
  }
}

// Several pure OAuth clients look at the second name first, so the same document is at both (RFC 8414 5).
const names = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']

/** Where metadata is below the issuer's path, where the router is: the form of OpenID Connect Discovery 4. */
export const wellKnownBelowIssuer: readonly string[] = names

/**
 * Every path on the issuer's host at which clients look for its metadata: the well-known name before the issuer's path
 * (RFC 8414 3.1) and after it. Without a path the two are one.
 *
 * @param mount the issuer's path without a slash at its end.
 */
export function wellKnownPaths(mount: string): ReadonlySet<string> {
  return new Set(names.flatMap((name) => [name + mount, mount + name]))
}
