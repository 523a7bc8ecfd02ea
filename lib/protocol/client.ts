import type { ClientLifetimes } from './client-lifetimes'
import type { Json } from './json'
import type { Scope } from './scope'
import type { Sender } from './sender'

/**
 * A client as a host registers it. Members of RFC 7591 2 have their registered names. A plug-in that adds members of its
 * own declares their types here, by module augmentation.
 */
export interface ClientRegistration {
  /**
   * Unique per client; not secret. 1 to 256 characters, without control characters. Every client library accepts
   * `A-Za-z0-9_-`.
   */
  readonly client_id: string
  /**
   * The client type (RFC 6749 2.1): a `confidential` client can keep a secret (a web server), a `public` client
   * cannot (browser, phone, desktop).
   */
  readonly client_type: 'confidential' | 'public'
  /**
   * Digests from `hashClientSecret` or `generateClientSecret`, at most 10. Default: none. All of them are valid, for
   * a rotation. The last digest is of the current secret, the digests before it are of old secrets. The server
   * reports the use of an old secret (`oldSecretUsed`).
   */
  readonly client_secret_hashes?: readonly string[] | undefined
  /**
   * What a method of `clientAuthenticationMethods` stores for the client, such as public keys, under the name of the
   * method: JSON values of at most 16 384 characters. Never store a secret in clear: the store of clients would give the
   * secret away.
   */
  readonly credentials?: Readonly<Record<string, unknown>> | undefined
  /**
   * The only method of authentication that the client may use. Default: each method for which the client has a
   * credential.
   */
  readonly token_endpoint_auth_method?: string | undefined
  /**
   * Complete redirection URIs, at most 100, each at most 2048 characters. The server compares them by simple string
   * comparison (RFC 6749 3.1.2.3).
   */
  readonly redirect_uris?: readonly string[] | undefined
  /**
   * For a native app, which gets its port from the operating system: a registered `http://127.0.0.1/path` or
   * `http://[::1]/path` matches every port (RFC 8252 7.3). `localhost` does not match other ports. Default `false`.
   */
  readonly loopback_redirect_uris?: boolean | undefined
  /**
   * Where the client may have people sent after a logout (RP-Initiated Logout 1.0), at most 100 URIs, compared letter by
   * letter. Default none.
   */
  readonly post_logout_redirect_uris?: readonly string[] | undefined
  /**
   * For a client that cannot register complete URIs: a request may add a query of its own to a registered URI, which
   * has none, and must name its redirection URI (RFC 6749 3.1.2.2). Default `false`.
   */
  readonly dynamic_redirect_query?: boolean | undefined
  /**
   * For a client without TLS: the registration may have `http` URIs on other hosts than loopback. Before each
   * redirect to such a URI, the server warns the resource owner (RFC 6749 3.1.2.1). Anybody on the network can read
   * the code. Default `false`.
   */
  readonly insecure_redirect_uris?: boolean | undefined
  /**
   * The grant types that the client may use. Default `['authorization_code']`. With `refresh_token`, the client gets
   * refresh tokens.
   */
  readonly grant_types?: readonly string[] | undefined
  /**
   * The response types that the client may use. Default `['code']` with the grant type `authorization_code`,
   * otherwise none.
   */
  readonly response_types?: readonly string[] | undefined
  /**
   * The type of the access tokens of the client: a token type of the server. Default: the `tokenType` of the server.
   */
  readonly token_type?: string | undefined
  /** The scope that the client may ask for, space separated, at most 4096 characters. */
  readonly scope: string
  /** The lifetime of an access token, in seconds. Default, and at most: `lifetimes.accessToken` of the server. */
  readonly access_token_lifetime?: number | undefined
  /**
   * The lifetime of a refresh token since the last refresh, in seconds. Default, and at most: `lifetimes.refreshToken` of
   * the server.
   */
  readonly refresh_token_lifetime?: number | undefined
  /**
   * The absolute end of a grant, in seconds since its approval. Default, and at most: `lifetimes.grant` of the server.
   */
  readonly grant_lifetime?: number | undefined
  /**
   * Whether each refresh gives the client a new refresh token. `false` is for confidential clients, and for public ones on
   * a server whose extensions bind refresh tokens; a refresh token that is not bound rotates in any case. Default:
   * `refreshTokenRotation` of the server.
   */
  readonly refresh_token_rotation?: boolean | undefined
  /**
   * Whether the client may introspect tokens, as a resource server does (RFC 7662 2.1). Only for confidential
   * clients. Default `false`.
   */
  readonly may_introspect?: boolean | undefined
  /**
   * Whether the client is disabled. Endpoints for clients answer `invalid_client`, and the authorization endpoint
   * treats the client as unknown. Access tokens of the client stay valid until they expire or are revoked. Default
   * `false`.
   */
  readonly disabled?: boolean | undefined
  /**
   * Whether the client is deleted: the rest of a registration that `deleteClient()` leaves, so that no other client gets
   * the identifier. Servers treat the client as unknown. No registration of a host has this member. Default `false`.
   */
  readonly deleted?: boolean | undefined
  /** The name that the resource owner sees, without invisible characters. At most 256 characters. */
  readonly client_name?: string | undefined
  /** A sentence about the client, for the consent page. At most 4096 characters. */
  readonly description?: string | undefined
  /** The home page of the client: an http or https URL of at most 2048 characters. */
  readonly client_uri?: string | undefined
  /** The logo of the client: an https URL of at most 2048 characters. The consent page shows no other logo. */
  readonly logo_uri?: string | undefined
  /** The privacy policy of the client: an http or https URL of at most 2048 characters. */
  readonly policy_uri?: string | undefined
  /** The terms of service of the client: an http or https URL of at most 2048 characters. */
  readonly tos_uri?: string | undefined
}

/** A registered client after the check of its registration, with every default. */
export interface Client extends ClientLifetimes {
  readonly client_id: string
  readonly client_type: 'confidential' | 'public'
  readonly client_secret_hashes: readonly string[]
  /** An entry for each added method of authentication that the client may use, under the name of the method. */
  readonly credentials: Readonly<Record<string, Json>>
  readonly token_endpoint_auth_method: string | undefined
  readonly redirect_uris: readonly string[]
  readonly post_logout_redirect_uris: readonly string[] | undefined
  readonly loopback_redirect_uris: boolean
  readonly dynamic_redirect_query: boolean
  readonly insecure_redirect_uris: boolean
  readonly grant_types: readonly string[]
  readonly response_types: readonly string[]
  /** Undefined means the `tokenType` of the server. */
  readonly token_type: string | undefined
  readonly scope: Scope
  /** Undefined means the option `refreshTokenRotation` of the server. */
  readonly refresh_token_rotation: boolean | undefined
  readonly may_introspect: boolean
  readonly disabled: boolean
  readonly client_name: string | undefined
  readonly description: string | undefined
  readonly client_uri: string | undefined
  readonly logo_uri: string | undefined
  readonly policy_uri: string | undefined
  readonly tos_uri: string | undefined
  /** What plug-ins have added to the registration, under the registered names. The object has no prototype. */
  readonly members: Readonly<Record<string, Json>>
  /** Present if the host has deleted the client. Only sources of clients see it: to the rest of a server it is unknown. */
  readonly deleted?: true
  /** Present if the client registered itself (RFC 7591): its name is its own claim, and its logo and pages are left out. */
  readonly selfRegistered?: true
  /** Only for a client that is not registered here: what its metadata document adds to a registration. */
  readonly metadataDocument?: MetadataDocument
}

/** What the server knows of a client because of the document at the URL that is its `client_id`. */
export interface MetadataDocument {
  /** The host of the `client_id`, with its port if it has one. All else in the document is the client's own claim. */
  readonly host: string
  /** Whether a redirection URI at `http://localhost` matches every port. */
  readonly localhostRedirects: boolean
}

/** Whether the client has credentials and must authenticate on every token request (RFC 6749 3.2.1). */
export function hasCredentials(client: Client): boolean {
  const { client_type, client_secret_hashes, credentials } = client
  return (
    client_type === 'confidential' || client_secret_hashes.length > 0 || Object.keys(credentials).length > 0
  )
}

/** Whether the host has registered the client. Otherwise the client registered itself, or is known by its document only. */
export function isRegisteredByHost({ metadataDocument, selfRegistered }: Client): boolean {
  return metadataDocument === undefined && selfRegistered !== true
}

/**
 * Whether the client, once it is proven, passes the limit on failures of its network. Only credentials that the host has
 * registered pass: everybody can make a client with a key, and would so get past the limit.
 */
export function passesNetworkLimit(client: Client): boolean {
  return hasCredentials(client) && isRegisteredByHost(client)
}

/**
 * Finds a client by its identifier. Returns a client of the options at once, without a promise.
 *
 * @param sender the sender of the request. A look-up that asks another server counts for its network. Over the limit of
 * failures, the look-up throws the refusal of the network instead.
 * @throws UnusableClient if the client exists, and this server cannot use it.
 */
export type FindClient = (
  clientId: string,
  sender?: Sender,
) => Client | undefined | Promise<Client | undefined>

// The methods that verify one of `client_secret_hashes`.
const secretMethods: readonly string[] = ['client_secret_basic', 'client_secret_post']
/** The methods of client authentication that every server has. */
export const builtInMethods: readonly string[] = [...secretMethods, 'none']

/** The name of a method of client authentication, and the check of its entries in registrations. */
export interface AuthenticationMethodDescription {
  /**
   * The name of the method in the registry of token endpoint authentication methods, such as `private_key_jwt`, or an
   * absolute URI.
   */
  readonly name: string
  /**
   * Checks the entry of a registration for this method in `credentials`. Returns what is wrong, as the rest of a
   * sentence that begins with the field, such as `must be a JWK set.`, or undefined for a good entry. If the function
   * throws, the server refuses the entry, too. The text must not contain the value. Default: every JSON value that is
   * not empty is good.
   */
  mistakeIn?(credential: Json): string | undefined
}

/** Whether the registration has a credential for the method: the mapping from client to method (RFC 6749 2.3.2). */
export function hasCredentialFor(method: string, client: Client): boolean {
  if (method === 'none') return !hasCredentials(client)
  if (secretMethods.includes(method)) return client.client_secret_hashes.length > 0
  return Object.hasOwn(client.credentials, method)
}

// The two kinds of digests, which their formats tell apart.
const ofChosenSecret = /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/
const ofGeneratedSecret = /^sha256:[A-Za-z0-9_-]{43}$/

/**
 * The number of secrets that a rotation leaves valid (REG-13): the current secret, and the one before it until each
 * part of the client has the new one.
 */
export const liveSecrets = 2

/** Whether the text is a bcrypt digest, for a secret that a person may have chosen. */
export function isBcryptHash(text: string): boolean {
  return ofChosenSecret.test(text)
}

/** Whether the text is a digest of either kind. */
export function isSecretHash(text: string): boolean {
  return ofGeneratedSecret.test(text) || ofChosenSecret.test(text)
}
