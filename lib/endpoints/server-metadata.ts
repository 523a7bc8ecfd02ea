/** The values from which the server builds its metadata. */
interface Offer {
  readonly issuer: string
  /** The endpoints of the server. */
  readonly endpoints: readonly EndpointOffer[]
  readonly scopes: readonly string[]
  readonly grantTypes: readonly string[]
  /** All methods of client authentication, including `none`. */
  readonly authenticationMethods: readonly AuthenticationOffer[]
  /** Members that extensions and endpoints of the host add. The members of the suite win. */
  readonly extensionMembers: ServerMetadata
  /** The authorization endpoint; undefined for a server without one. */
  readonly authorization: AuthorizationOffer | undefined
}

/** A method of client authentication in the metadata. */
interface AuthenticationOffer {
  readonly name: string
  /** The scheme of a method that reads the `Authorization` header. */
  readonly scheme?: string
  /** The signature algorithms of a method with assertions, such as `private_key_jwt`. */
  readonly signingAlgorithms?: readonly string[]
}

/** An endpoint in the metadata. */
export interface EndpointOffer {
  /** The name of the endpoint, such as `token` for the member `token_endpoint`. */
  readonly name: string
  readonly path: string
  /** Whether the metadata names the endpoint. Default true. */
  readonly listed?: boolean
  /** Default `required`. */
  readonly clientAuthentication?: 'required' | 'confidential' | 'optional' | 'none'
  /** Whether requests have a form, in which a client may authenticate. */
  readonly hasForm: boolean
}

interface AuthorizationOffer {
  readonly path: string
  readonly responseTypes: readonly string[]
  readonly responseModes: readonly string[]
  readonly promptValues: readonly string[]
}

/** Authorization server metadata under the registered names (RFC 8414 2). Members that do not apply are missing. */
export type ServerMetadata = Readonly<Record<string, string | boolean | readonly string[]>>

/** The absolute URL of a path below the issuer. */
export function urlBelow(issuer: string, path: string): string {
  return issuer.replace(/\/+$/, '') + path
}

/** Builds the metadata of a server. */
export function serverMetadata(offer: Offer): ServerMetadata {
  const { authorization, scopes } = offer
  const endpoints = offer.endpoints.filter(({ listed }) => listed !== false)
  const at = (path: string) => urlBelow(offer.issuer, path)
  return {
    ...offer.extensionMembers,
    issuer: offer.issuer,
    ...(authorization === undefined ? {} : { authorization_endpoint: at(authorization.path) }),
    ...Object.fromEntries(endpoints.map(({ name, path }) => [`${name}_endpoint`, at(path)])),
    scopes_supported: scopes,
    // RFC 8414 2 requires this member of every server, also without an authorization endpoint. Clients insist on the
    // member.
    response_types_supported: authorization?.responseTypes ?? [],
    grant_types_supported: offer.grantTypes,
    ...authenticationMembers({ ...offer, endpoints }),
    ...(authorization === undefined ? {} : authorizationMembers(authorization)),
  }
}

function authenticationMembers({ endpoints, authenticationMethods }: Offer): ServerMetadata {
  const members: Record<string, readonly string[]> = {}
  for (const endpoint of endpoints) {
    if (endpoint.clientAuthentication === 'none') continue
    const methods = authenticationMethods.filter((method) => isUsableAt(endpoint, method))
    const prefix = `${endpoint.name}_endpoint_auth`
    members[`${prefix}_methods_supported`] = methods.map(({ name }) => name)
    // RFC 8414 2: a server whose methods have signed assertions names the algorithms for each endpoint.
    const algorithms = methods.flatMap((method) => method.signingAlgorithms ?? [])
    if (algorithms.length > 0) members[`${prefix}_signing_alg_values_supported`] = [...new Set(algorithms)]
  }
  return members
}

// Without a form, a client has only the `Authorization` header to authenticate by.
function isUsableAt(
  { clientAuthentication, hasForm }: EndpointOffer,
  { name, scheme }: AuthenticationOffer,
): boolean {
  return (hasForm || scheme !== undefined) && !(clientAuthentication === 'confidential' && name === 'none')
}

function authorizationMembers({ responseModes, promptValues }: AuthorizationOffer): ServerMetadata {
  return {
    response_modes_supported: responseModes,
    // Initiating User Registration via OpenID Connect 1.0, 4.1
    prompt_values_supported: promptValues,
    // RFC 9207 3: the responses of the authorization endpoint contain `iss`.
    authorization_response_iss_parameter_supported: true,
  }
}

// Several clients that use only OAuth request the second name first, so both names serve the same document (RFC 8414
// 5).
const names = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']

/**
 * The paths of the metadata below the path of the issuer, where the router serves them: the form of OpenID Connect
 * Discovery 4.
 */
export const wellKnownBelowIssuer: readonly string[] = names

/**
 * Every path on the host of the issuer at which clients look for the metadata: the well-known name before the path of
 * the issuer (RFC 8414 3.1) and after it. For an issuer without a path, both forms are equal.
 *
 * @param mount the path of the issuer without a slash at its end.
 * @param resources the paths of the resources: clients that know an MCP server alone, and not its document (RFC 9728),
 * put the path of the resource behind the name.
 */
export function wellKnownPaths(mount: string, resources: readonly string[]): ReadonlySet<string> {
  return new Set(
    names.flatMap((name) => [name + mount, mount + name].concat(resources.map((path) => name + path))),
  )
}
