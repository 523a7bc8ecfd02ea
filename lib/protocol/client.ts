import type { Json } from './extension'
import type { Scope } from './scope'

/**
 * A client as a host registers it, under the registered names of RFC 7591 2.
 */
export interface ClientRegistration {
  /** Unique per client; not secret. Characters `A-Za-z0-9_-` get along with every client library. */
  readonly client_id: string
  /** RFC 6749 2.1: `confidential` can keep a secret (a web server), `public` cannot (browser, phone, desktop). */
  readonly client_type: 'confidential' | 'public'
  /**
   * Digests from `hashClientSecret` or `generateClientSecret`. Several are valid at once, for a rotation: the last is of
   * the current secret, those before it are of old ones, whose use is reported (`oldSecretUsed`).
   */
  readonly client_secret_hashes?: readonly string[] | undefined
  /**
   * What a method of `clientAuthenticationMethods` keeps of the client, such as its public keys, under the method's name.
   * Never a secret as it is: the store of clients would give it away.
   */
  readonly credentials?: Readonly<Record<string, Json>> | undefined
  /** Restricts the client to one method of authentication; left out: any method that suits its type. */
  readonly token_endpoint_auth_method?: string | undefined
  /** Complete URIs, compared by simple string comparison (RFC 6749 3.1.2.3). */
  readonly redirect_uris?: readonly string[] | undefined
  /**
   * For a native app, which gets a port from its operating system: a registered `http://127.0.0.1/path` or
   * `http://[::1]/path` stands for every port (RFC 8252 7.3). `localhost` takes no part. Default `false`.
   */
  readonly loopback_redirect_uris?: boolean | undefined
  /**
   * For a client that cannot register complete URIs: a request brings a query of its own behind a registered URI,
   * which has none, and always names its redirection URI (RFC 6749 3.1.2.2). Default `false`.
   */
  readonly dynamic_redirect_query?: boolean | undefined
  /**
   * For a client without TLS: `http` URIs beyond loopback may be registered, and before each redirect to one the
   * resource owner is warned (RFC 6749 3.1.2.1). Whoever listens on the network can read the code. Default `false`.
   */
  readonly insecure_redirect_uris?: boolean | undefined
  /** Default `['authorization_code']`. `refresh_token` among them gives the client refresh tokens. */
  readonly grant_types?: readonly string[] | undefined
  /** Default `['code']` for a client of the authorization code grant. */
  readonly response_types?: readonly string[] | undefined
  /** The type of its access tokens, one that the server offers. Default: the server's `tokenType`. */
  readonly token_type?: string | undefined
  /** What the client may ask for, space separated. */
  readonly scope: string
  /** Whether it may ask about tokens, as a resource server does (RFC 7662 2.1). Default false. */
  readonly may_introspect?: boolean | undefined
  /**
   * Whether it is shut out: `invalid_client` at every endpoint for clients, unknown at the authorization endpoint. Access
   * tokens that it has already live on until they expire or are revoked. Default `false`.
   */
  readonly disabled?: boolean | undefined
  /** The name that the resource owner sees on the consent page. */
  readonly client_name?: string | undefined
  /** A sentence about the client for the consent page. */
  readonly description?: string | undefined
  readonly client_uri?: string | undefined
  readonly logo_uri?: string | undefined
  readonly policy_uri?: string | undefined
  readonly tos_uri?: string | undefined
}

/** A registered client, complete and proven: what every later step works with. */
export interface Client {
  readonly client_id: string
  readonly client_type: 'confidential' | 'public'
  readonly client_secret_hashes: readonly string[]
  /** An entry for each added method of authentication that the client may use, under the method's name. */
  readonly credentials: Readonly<Record<string, Json>>
  readonly token_endpoint_auth_method: string | undefined
  readonly redirect_uris: readonly string[]
  readonly loopback_redirect_uris: boolean
  readonly dynamic_redirect_query: boolean
  readonly insecure_redirect_uris: boolean
  readonly grant_types: readonly string[]
  readonly response_types: readonly string[]
  /** Undefined: the server's own. */
  readonly token_type: string | undefined
  readonly scope: Scope
  readonly may_introspect: boolean
  readonly disabled: boolean
  readonly client_name: string | undefined
  readonly description: string | undefined
  readonly client_uri: string | undefined
  readonly logo_uri: string | undefined
  readonly policy_uri: string | undefined
  readonly tos_uri: string | undefined
}

/** Whether the client has credentials and so must authenticate on every token request (RFC 6749 3.2.1). */
export function hasCredentials(client: Client): boolean {
  const { client_type, client_secret_hashes, credentials } = client
  return (
    client_type === 'confidential' || client_secret_hashes.length > 0 || Object.keys(credentials).length > 0
  )
}

/** Looks a client up by its identifier; one of the options is there at once. */
export type FindClient = (clientId: string) => Client | undefined | Promise<Client | undefined>

// They verify one of the client's `client_secret_hashes`.
const secretMethods: readonly string[] = ['client_secret_basic', 'client_secret_post']
/** The methods of client authentication that every server has. */
export const builtInMethods: readonly string[] = [...secretMethods, 'none']

/** What a method of client authentication that the host added holds a registration to. */
export interface AuthenticationMethodDescription {
  /** The name in the registry of token endpoint authentication methods, such as `private_key_jwt`, or an absolute URI. */
  readonly name: string
  /**
   * What is wrong with what a registration keeps for this method in `credentials`, as the rest of a sentence that begins
   * with the field, such as `must be a JWK set.`; undefined when it is sound. A throw refuses it, too. It tells nothing
   * of the value. Left out: any JSON value that is not empty will do.
   */
  mistakeIn?(credential: Json): string | undefined
}

/** Whether the registration has what the method proves: the mapping from client to method (RFC 6749 2.3.2). */
export function hasCredentialFor(method: string, client: Client): boolean {
  if (method === 'none') return !hasCredentials(client)
  if (secretMethods.includes(method)) return client.client_secret_hashes.length > 0
  return Object.hasOwn(client.credentials, method)
}

// What the store of clients keeps of a secret, told apart by format.
const ofChosenSecret = /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/
const ofGeneratedSecret = /^sha256:[A-Za-z0-9_-]{43}$/

/** How many secrets of a client live at most (REG-13): the current one, and the one before it until each part has learnt it. */
export const liveSecrets = 2

/** Whether the text is a bcrypt digest, made for secrets that a person may have chosen. */
export function isBcryptHash(text: string): boolean {
  return ofChosenSecret.test(text)
}

/** Whether the text is a digest of either kind. */
export function isSecretHash(text: string): boolean {
  return ofGeneratedSecret.test(text) || ofChosenSecret.test(text)
}
