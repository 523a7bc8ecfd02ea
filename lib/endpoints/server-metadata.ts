interface Offer {
  readonly issuer: string
  readonly endpoints: readonly EndpointOffer[]
  readonly scopes: readonly string[]
  readonly grantTypes: readonly string[]
  /** Including `none`. */
  readonly authenticationMethods: readonly AuthenticationOffer[]
  /** From extensions and the host's endpoints. The suite's members win. */
  readonly extensionMembers: ServerMetadata
  /** Undefined for a server without the endpoint. */
  readonly authorization: AuthorizationOffer | undefined
}

interface AuthenticationOffer {
  readonly name: string
  /** Of a method that reads the `Authorization` header. */
  readonly scheme?: string
  /** For methods with assertions, such as `private_key_jwt`. */
  readonly signingAlgorithms?: readonly string[]
}

export interface EndpointOffer {
  /** Such as `token` for the member `token_endpoint`. */
  readonly name: string
  readonly path: string
  /** Whether the metadata names the endpoint. Default true. */
  readonly listed?: boolean
  /** Default `required`. */
  readonly clientAuthentication?: 'required' | 'confidential' | 'optional' | 'none'
  /** A client may authenticate in the form. */
  readonly hasForm: boolean
}

interface AuthorizationOffer {
  readonly path: string
  readonly responseTypes: readonly string[]
  readonly responseModes: readonly string[]
  readonly promptValues: readonly string[]
}

/** RFC 8414 2. Omits members that do not apply. */
export type ServerMetadata = Readonly<Record<string, string | boolean | readonly string[]>>

export function urlBelow(issuer: string, path: string): string {
  return issuer.replace(/\/+$/, '') + path
}

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
    // RFC 8414 2 requires it of every server, also without an authorization endpoint, and clients insist.
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
    // RFC 8414 2: a server with signed assertions names the algorithms for each endpoint.
    const algorithms = methods.flatMap((method) => method.signingAlgorithms ?? [])
    if (algorithms.length > 0) members[`${prefix}_signing_alg_values_supported`] = [...new Set(algorithms)]
  }
  return members
}

// Without a form, a client can authenticate only by the `Authorization` header.
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

// Several OAuth-only clients request the second name first, so both serve the same document (RFC 8414 5).
const names = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']

/** Below the issuer's path, as in OpenID Connect Discovery 4. */
export const wellKnownBelowIssuer: readonly string[] = names

/**
 * Every path of the issuer's host at which clients look: the well-known name before the issuer's path (RFC
 * 8414 3.1), and after it.
 *
 * @param mount the issuer's path without a slash at its end.
 * @param resources paths of the resources: clients that know only an MCP server, not its document (RFC 9728),
 * put its path behind the name.
 */
export function wellKnownPaths(mount: string, resources: readonly string[]): ReadonlySet<string> {
  return new Set(
    names.flatMap((name) => [name + mount, mount + name].concat(resources.map((path) => name + path))),
  )
}
