interface Offer {
  readonly issuer: string
  readonly endpoints: readonly EndpointOffer[]
  readonly scopes: readonly string[]
  readonly grantTypes: readonly string[]
  /** Including `none`. */
  readonly authenticationMethods: readonly AuthenticationOffer[]
  /** The suite's members win. */
  readonly extensionMembers: ServerMetadata
  readonly authorization: AuthorizationOffer | undefined
}

interface AuthenticationOffer {
  readonly name: string
  readonly scheme?: string
  /** Such as those of `private_key_jwt`. */
  readonly signingAlgorithms?: readonly string[]
}

export interface EndpointOffer {
  /** Such as `token` for the member `token_endpoint`. */
  readonly name: string
  readonly path: string
  /** Default true. */
  readonly listed?: boolean
  /** Default `required`. */
  readonly clientAuthentication?: 'required' | 'confidential' | 'optional' | 'none'
  readonly hasForm: boolean
}

interface AuthorizationOffer {
  readonly path: string
  readonly responseTypes: readonly string[]
  readonly responseModes: readonly string[]
  readonly promptValues: readonly string[]
}

/** RFC 8414 2. */
export type ServerMetadata = Readonly<Record<string, string | boolean | readonly string[]>>

export const urlBelow = (issuer: string, path: string): string => issuer.replace(/\/+$/, '') + path

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
    // RFC 8414 2 requires it also without an authorization endpoint, and clients insist.
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
    // RFC 8414 2: names the algorithms of signed assertions for each endpoint.
    const algorithms = methods.flatMap((method) => method.signingAlgorithms ?? [])
    if (algorithms.length > 0) members[`${prefix}_signing_alg_values_supported`] = [...new Set(algorithms)]
  }
  return members
}

// Without a form, only the `Authorization` header is left.
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
    // RFC 9207 3
    authorization_response_iss_parameter_supported: true,
  }
}

// Several OAuth-only clients request the second first, so both serve one document (RFC 8414 5).
const names = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']

/** OpenID Connect Discovery 4. */
export const wellKnownBelowIssuer: readonly string[] = names

/**
 * The well-known name before the issuer's path (RFC 8414 3.1), and after it.
 * @param resources paths: clients that know only an MCP server, not its document (RFC 9728), put its path
 * behind the name.
 */
export function wellKnownPaths(mount: string, resources: readonly string[]): ReadonlySet<string> {
  return new Set(
    names.flatMap((name) => [name + mount, mount + name].concat(resources.map((path) => name + path))),
  )
}
