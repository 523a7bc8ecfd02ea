import type { ClientLifetimes } from './client-lifetimes'
import type { Json } from './json'
import type { Scope } from './scope'
import type { Sender } from './sender'

/**
 * A client as a host registers it. Members of RFC 7591 2 have their registered names. A plug-in declares the types of
 * its own members by module augmentation.
 */
export interface ClientRegistration {
  /**
   * Unique; not secret. 1 to 256 characters, without control characters. Every client library accepts `A-Za-z0-9_-`.
   */
  readonly client_id: string
  /**
   * RFC 6749 2.1: a `confidential` client can keep a secret (a web server), a `public` client cannot (browser, phone,
   * desktop).
   */
  readonly client_type: 'confidential' | 'public'
  /**
   * From `hashClientSecret` or `generateClientSecret`, at most 10. All are valid, for a rotation: the last is current,
   * the others are old. The server reports the use of an old secret (`oldSecretUsed`). Default: none.
   */
  readonly client_secret_hashes?: readonly string[] | undefined
  /**
   * What each method of `clientAuthenticationMethods` stores for the client, such as public keys, by name: JSON of at
   * most 16 384 characters. Never a secret in clear: the store of clients would give it away.
   */
  readonly credentials?: Readonly<Record<string, unknown>> | undefined
  /** The only method that the client may use. Default: each method for which it has a credential. */
  readonly token_endpoint_auth_method?: string | undefined
  /** Complete URIs, at most 100, each at most 2048 characters, compared letter by letter (RFC 6749 3.1.2.3). */
  readonly redirect_uris?: readonly string[] | undefined
  /**
   * For native apps, which get their port from the operating system: `http://127.0.0.1/path` or `http://[::1]/path`
   * matches every port (RFC 8252 7.3), `localhost` does not. Default `false`.
   */
  readonly loopback_redirect_uris?: boolean | undefined
  /**
   * Where the client may send people after a logout (RP-Initiated Logout 1.0): at most 100 URIs, compared letter by
   * letter. Default none.
   */
  readonly post_logout_redirect_uris?: readonly string[] | undefined
  /**
   * For a client that cannot register complete URIs: a request may add a query to a registered URI, which has none, and
   * must name its redirection URI (RFC 6749 3.1.2.2). Default `false`.
   */
  readonly dynamic_redirect_query?: boolean | undefined
  /**
   * For a client without TLS: allows `http` URIs on other hosts than loopback. The server warns the owner before each
   * redirect to one (RFC 6749 3.1.2.1): anybody on the network can read the code. Default `false`.
   */
  readonly insecure_redirect_uris?: boolean | undefined
  /** Default `['authorization_code']`. With `refresh_token`, the client gets refresh tokens. */
  readonly grant_types?: readonly string[] | undefined
  /** Default `['code']` with the grant type `authorization_code`, otherwise none. */
  readonly response_types?: readonly string[] | undefined
  /** A token type of the server, for the access tokens of the client. Default: `tokenType` of the server. */
  readonly token_type?: string | undefined
  /** What the client may ask for, space separated, at most 4096 characters. */
  readonly scope: string
  /** In seconds. Default, and at most: `lifetimes.accessToken` of the server. */
  readonly access_token_lifetime?: number | undefined
  /** In seconds since the last refresh. Default, and at most: `lifetimes.refreshToken` of the server. */
  readonly refresh_token_lifetime?: number | undefined
  /**
   * The absolute end of a grant, in seconds since its approval. Default, and at most: `lifetimes.grant` of the server.
   */
  readonly grant_lifetime?: number | undefined
  /**
   * Whether each refresh gives a new refresh token. `false` is for confidential clients, and for public ones if
   * extensions bind refresh tokens; an unbound one rotates in any case. Default: `refreshTokenRotation` of the server.
   */
  readonly refresh_token_rotation?: boolean | undefined
  /** Whether the client may introspect tokens (RFC 7662 2.1). Confidential clients only. Default `false`. */
  readonly may_introspect?: boolean | undefined
  /**
   * Endpoints for clients answer `invalid_client`, and the authorization endpoint treats the client as unknown. Its
   * access tokens stay valid until they expire or are revoked. Default `false`.
   */
  readonly disabled?: boolean | undefined
  /**
   * What `deleteClient()` leaves, so that no other client gets the identifier. Servers treat the client as unknown. A
   * host never sets it. Default `false`.
   */
  readonly deleted?: boolean | undefined
  /** What the owner sees, without invisible characters. At most 256 characters. */
  readonly client_name?: string | undefined
  /** A sentence for the consent page. At most 4096 characters. */
  readonly description?: string | undefined
  /** The home page: an http or https URL of at most 2048 characters. */
  readonly client_uri?: string | undefined
  /** An https URL of at most 2048 characters. The consent page shows no other logo. */
  readonly logo_uri?: string | undefined
  /** The privacy policy: an http or https URL of at most 2048 characters. */
  readonly policy_uri?: string | undefined
  /** The terms of service: an http or https URL of at most 2048 characters. */
  readonly tos_uri?: string | undefined
}

/** A checked registration, with every default. */
export interface Client extends ClientLifetimes {
  readonly client_id: string
  readonly client_type: 'confidential' | 'public'
  readonly client_secret_hashes: readonly string[]
  /** By the name of the added method of authentication. */
  readonly credentials: Readonly<Record<string, Json>>
  readonly token_endpoint_auth_method: string | undefined
  readonly redirect_uris: readonly string[]
  readonly post_logout_redirect_uris: readonly string[] | undefined
  readonly loopback_redirect_uris: boolean
  readonly dynamic_redirect_query: boolean
  readonly insecure_redirect_uris: boolean
  readonly grant_types: readonly string[]
  readonly response_types: readonly string[]
  /** Undefined: the `tokenType` of the server. */
  readonly token_type: string | undefined
  readonly scope: Scope
  /** Undefined: `refreshTokenRotation` of the server. */
  readonly refresh_token_rotation: boolean | undefined
  readonly may_introspect: boolean
  readonly disabled: boolean
  readonly client_name: string | undefined
  readonly description: string | undefined
  readonly client_uri: string | undefined
  readonly logo_uri: string | undefined
  readonly policy_uri: string | undefined
  readonly tos_uri: string | undefined
  /** What plug-ins have added, under the registered names. No prototype. */
  readonly members: Readonly<Record<string, Json>>
  /** Only sources of clients see it: to the rest of a server, the client is unknown. */
  readonly deleted?: true
  /**
   * Present if the client registered itself (RFC 7591): its name is its own claim, and its logo and pages are left out.
   */
  readonly selfRegistered?: true
  /** Only for a client that is known by its metadata document. */
  readonly metadataDocument?: MetadataDocument
}

/** What the server knows from the document at the URL that is the `client_id`. */
export interface MetadataDocument {
  /** The host of the `client_id`, with its port if any. All else in the document is the client's own claim. */
  readonly host: string
  /** Whether a redirection URI at `http://localhost` matches every port. */
  readonly localhostRedirects: boolean
}

/** RFC 6749 3.2.1: such a client must authenticate on every token request. */
export function hasCredentials(client: Client): boolean {
  const { client_type, client_secret_hashes, credentials } = client
  return (
    client_type === 'confidential' || client_secret_hashes.length > 0 || Object.keys(credentials).length > 0
  )
}

/** Otherwise it registered itself, or is known by its document only. */
export function isRegisteredByHost({ metadataDocument, selfRegistered }: Client): boolean {
  return metadataDocument === undefined && selfRegistered !== true
}

/**
 * Whether the proven client passes the limit on failures of its network. Needs credentials that the host registered:
 * anybody can make a client with a key.
 */
export function passesNetworkLimit(client: Client): boolean {
  return hasCredentials(client) && isRegisteredByHost(client)
}

/**
 * Returns a client of the options at once, without a promise.
 *
 * @param sender a look-up that asks another server counts for its network. Over the limit of failures, the look-up
 * throws the refusal of the network.
 * @throws UnusableClient if the client exists, and this server cannot use it.
 */
export type FindClient = (
  clientId: string,
  sender?: Sender,
) => Client | undefined | Promise<Client | undefined>

// They verify one of `client_secret_hashes`.
const secretMethods: readonly string[] = ['client_secret_basic', 'client_secret_post']
export const builtInMethods: readonly string[] = [...secretMethods, 'none']

export interface AuthenticationMethodDescription {
  /** From the registry of token endpoint authentication methods, such as `private_key_jwt`, or an absolute URI. */
  readonly name: string
  /**
   * Checks the entry in `credentials`. Returns the rest of a sentence that begins with the field, such as `must be a
   * JWK set.`, without the value; undefined for a good entry. If it throws, the server refuses the entry, too. Default:
   * every JSON value that is not empty is good.
   */
  mistakeIn?(credential: Json): string | undefined
}

/** RFC 6749 2.3.2: the mapping from client to method. */
export function hasCredentialFor(method: string, client: Client): boolean {
  if (method === 'none') return !hasCredentials(client)
  if (secretMethods.includes(method)) return client.client_secret_hashes.length > 0
  return Object.hasOwn(client.credentials, method)
}

const ofChosenSecret = /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/
const ofGeneratedSecret = /^sha256:[A-Za-z0-9_-]{43}$/

/**
 * REG-13: a rotation leaves the current secret valid, and the one before it until each part of the client has the new
 * one.
 */
export const liveSecrets = 2

/** For a secret that a person may have chosen. */
export function isBcryptHash(text: string): boolean {
  return ofChosenSecret.test(text)
}

export function isSecretHash(text: string): boolean {
  return ofGeneratedSecret.test(text) || ofChosenSecret.test(text)
}
