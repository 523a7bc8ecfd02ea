import type { Eventual } from '../primitives/concurrency'
import type { Json } from './json'
import type { Scope } from './scope'
import type { Sender } from './sender'
import { isBoolean, isText } from '../primitives/values'

/**
 * Registration members that plug-ins of a host read, by module augmentation: `declare module
 * 'express-authorization-server' { interface HostClientMembers { … } }`. It stands apart, because TypeScript loses the
 * package's own augmentations after one through a re-export.
 */
export interface HostClientMembers {}

/** Members of RFC 7591 2 have their registered names. */
export interface ClientRegistration extends HostClientMembers {
  /** Unique, not secret: 1 to 256 characters, no control characters. Every client library accepts `A-Za-z0-9_-`. */
  readonly client_id: string
  /** RFC 6749 2.1: only `confidential` clients, such as web servers, can keep a secret. */
  readonly client_type: 'confidential' | 'public'
  /**
   * At most 10, from `hashClientSecret`, `generateClientSecret`, or another server with `verifyDigest`. All are valid,
   * for a rotation; the event `oldSecretUsed` reports the use of any but the last. Default: none.
   */
  readonly client_secret_hashes?: readonly string[] | undefined
  /** By method of authentication, such as public keys: JSON of at most 16 384 characters. Never a secret in clear. */
  readonly credentials?: Readonly<Record<string, unknown>> | undefined
  /** The only method allowed. Default: each with a credential. */
  readonly token_endpoint_auth_method?: string | undefined
  /** Complete URIs, at most 100 of 2048 characters, compared exactly (RFC 6749 3.1.2.3). */
  readonly redirect_uris?: readonly string[] | undefined
  /**
   * For native apps: `http://127.0.0.1/path` and `http://[::1]/path` match every port (RFC 8252 7.3); `localhost` does
   * not. Default `false`.
   */
  readonly loopback_redirect_uris?: boolean | undefined
  /**
   * Where people may go after a logout (RP-Initiated Logout 1.0): at most 100, compared exactly. Default none.
   */
  readonly post_logout_redirect_uris?: readonly string[] | undefined
  /**
   * Lets a request add a query to a registered URI without one; it must name its redirection URI (RFC 6749 3.1.2.2).
   * Default `false`.
   */
  readonly dynamic_redirect_query?: boolean | undefined
  /**
   * Allows `http` URIs beyond loopback, where the network can read the code: the server warns the owner before each
   * redirect (RFC 6749 3.1.2.1). Default `false`.
   */
  readonly insecure_redirect_uris?: boolean | undefined
  /** Default `['authorization_code']`. With `refresh_token`, the client gets refresh tokens. */
  readonly grant_types?: readonly string[] | undefined
  /** Default `['code']` with the grant type `authorization_code`, otherwise none. */
  readonly response_types?: readonly string[] | undefined
  /** A token type of the server. Default: its `tokenType`. */
  readonly token_type?: string | undefined
  /** Space separated, at most 4096 characters. */
  readonly scope: string
  /** In seconds. Default and maximum: `lifetimes.accessToken` of the server. */
  readonly access_token_lifetime?: number | undefined
  /** In seconds since the last refresh. Default and maximum: `lifetimes.refreshToken` of the server. */
  readonly refresh_token_lifetime?: number | undefined
  /** In seconds since the approval. Default and maximum: `lifetimes.grant` of the server. */
  readonly grant_lifetime?: number | undefined
  /**
   * Whether each refresh gives a new refresh token. `false` is for tokens that a confidential client or a key holds;
   * others rotate in any case. Default: `refreshTokenRotation` of the server.
   */
  readonly refresh_token_rotation?: boolean | undefined
  /** Whether the client may introspect tokens (RFC 7662 2.1). Confidential clients only. Default `false`. */
  readonly may_introspect?: boolean | undefined
  /**
   * Endpoints answer `invalid_client`; the authorization endpoint does not know the client. Its access tokens live on
   * until they expire or are revoked. Default `false`.
   */
  readonly disabled?: boolean | undefined
  /** Set by `deleteClient()` alone: no other client gets the identifier. Default `false`. */
  readonly deleted?: boolean | undefined
  /** For the owner, without invisible characters. At most 256 characters. */
  readonly client_name?: string | undefined
  /** For the consent page. At most 4096 characters. */
  readonly description?: string | undefined
  /** An http or https URL of at most 2048 characters. */
  readonly client_uri?: string | undefined
  /** An https URL of at most 2048 characters: the consent page shows no other. */
  readonly logo_uri?: string | undefined
  /** An http or https URL of at most 2048 characters. */
  readonly policy_uri?: string | undefined
  /** An http or https URL of at most 2048 characters. */
  readonly tos_uri?: string | undefined
}

/** Checked, with every default. */
export interface Client {
  readonly client_id: string
  readonly client_type: 'confidential' | 'public'
  readonly client_secret_hashes: readonly string[]
  readonly credentials: Readonly<Record<string, Json>>
  readonly token_endpoint_auth_method: string | undefined
  readonly redirect_uris: readonly string[]
  readonly post_logout_redirect_uris: readonly string[] | undefined
  readonly loopback_redirect_uris: boolean
  readonly dynamic_redirect_query: boolean
  readonly insecure_redirect_uris: boolean
  readonly grant_types: readonly string[]
  readonly response_types: readonly string[]
  readonly token_type: string | undefined
  readonly scope: Scope
  /** In seconds. Undefined: the lifetime of the server. */
  readonly access_token_lifetime: number | undefined
  readonly refresh_token_lifetime: number | undefined
  readonly grant_lifetime: number | undefined
  readonly refresh_token_rotation: boolean | undefined
  readonly may_introspect: boolean
  readonly disabled: boolean
  readonly client_name: string | undefined
  readonly description: string | undefined
  readonly client_uri: string | undefined
  readonly logo_uri: string | undefined
  readonly policy_uri: string | undefined
  readonly tos_uri: string | undefined
  /** Of plug-ins, under the registered names. No prototype. */
  readonly members: Readonly<Record<string, Json>>
  readonly deleted?: true
  /** RFC 7591: its name is its own claim; its logo and pages are left out. */
  readonly selfRegistered?: true
  readonly metadataDocument?: MetadataDocument
}

interface MetadataDocument {
  /** Of the `client_id`, with its port. All else is the client's own claim. */
  readonly host: string
  /** Whether a redirection URI at `http://localhost` matches every port. */
  readonly localhostRedirects: boolean
}

export const usualGrantTypes: readonly string[] = Object.freeze(['authorization_code'])
export const usualResponseTypes = (grantTypes: readonly string[]): readonly string[] =>
  grantTypes.includes('authorization_code') ? ['code'] : []

/** RFC 6749 3.2.1: such a client authenticates on every token request. */
export function hasCredentials(client: Client): boolean {
  const { client_type, client_secret_hashes, credentials } = client
  return (
    client_type === 'confidential' || client_secret_hashes.length > 0 || Object.keys(credentials).length > 0
  )
}

export const isRegisteredByHost = ({ metadataDocument, selfRegistered }: Client): boolean =>
  metadataDocument === undefined && selfRegistered !== true

/**
 * Only with credentials that the host registered. Else the network counts: anybody may name a public client, or make
 * one with a key, and use up its share.
 */
export const passesNetworkLimit = (client: Client): boolean =>
  hasCredentials(client) && isRegisteredByHost(client)

/**
 * @param sender for a look-up at another server. Over the limit of failures, it throws the refusal of the network.
 * @throws UnusableClient if the client exists, and this server cannot use it.
 */
export type FindClient = (clientId: string, sender?: Sender) => Eventual<Client | undefined>

export const privateKeyJwtName = 'private_key_jwt'

const secretMethods: readonly string[] = ['client_secret_basic', 'client_secret_post']
export const builtInMethods: readonly string[] = [...secretMethods, 'none']

export interface AuthenticationMethodDescription {
  /** Of the registry of token endpoint authentication methods, or an absolute URI. */
  readonly name: string
  /**
   * Checks the entry in `credentials`. Returns the rest of a sentence that begins with the field, such as `must be a
   * JWK set.`, without the value. If it throws, the entry is refused. Default: all JSON that is not empty is good.
   */
  mistakeIn?(credential: Json): string | undefined
}

export function hasCredentialFor(method: string, client: Client): boolean {
  if (method === 'none') return !hasCredentials(client)
  if (secretMethods.includes(method)) return client.client_secret_hashes.length > 0
  return Object.hasOwn(client.credentials, method)
}

const ofChosenSecret = /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/
const ofGeneratedSecret = /^sha256:[A-Za-z0-9_-]{43}$/

/** REG-13: the current one, and the one before it during a rotation. */
export const liveSecrets = 2

export const isBcryptHash = (text: string): boolean => ofChosenSecret.test(text)

export const isSecretHash = (text: string): boolean =>
  ofGeneratedSecret.test(text) || ofChosenSecret.test(text)

/** Of another server. A secret that a person chose is mostly shorter, or has a space. */
export const isForeignDigest = (text: string): boolean =>
  /^[\x21-\x7E]{32,512}$/.test(text) && !isSecretHash(text)

/** Of a plug-in (RFC 7591 2). */
export interface ClientMember {
  /** Lower-case letters, digits and `_`. */
  readonly name: string
  /**
   * Checks JSON of at most 16 384 characters, never null. Returns the rest of a sentence that begins with the name,
   * such as `must be public or pairwise.`: ASCII without quotes and without the value, because a client may get it. If
   * it throws, the value is refused.
   */
  mistakeIn(value: Json): string | undefined
  /**
   * Whether a client that registers itself gets the value; else its registration leaves it out. Default: every good
   * value.
   */
  isGranted?(value: Json): boolean
  /**
   * Checks the value against the other members, each good by itself; see {@link mistakeIn}. Default: fits every client.
   */
  conflictIn?(value: Json, client: Client): string | undefined
  /**
   * Verifies what a client states about itself, by RFC 7591, RFC 7592 or its metadata document, after the other checks.
   * Let errors of `fetchDocument` pass. See {@link mistakeIn}. Default: nothing to verify.
   */
  verify?(value: Json, statement: ClientStatement): Promise<string | undefined>
  /**
   * The identifier of an owner for a client, as the `sub` of access tokens in a format and of introspection: always the
   * same for the same arguments. Records, guards that look a token up and the host keep the subject of the host. Only
   * one member may have it.
   */
  subjectFor?(subject: string, client: Client): string
}

export type PublishedSubject = (subject: string, client: Client) => string

export function publishedSubjectBy(members: readonly ClientMember[] = []): PublishedSubject | undefined {
  const member = members.find((each) => each.subjectFor !== undefined)
  if (member === undefined) return undefined
  return (subject, client) => {
    const published: unknown = member.subjectFor?.(subject, client)
    if (isText(published)) return published
    throw new TypeError(`The member "${member.name}" must return a text as the subject for a client.`)
  }
}

export interface ClientStatement {
  readonly client: Client
  /**
   * Fetches JSON over https in at most 2 seconds, never from inside the network of the server. Counts for the sender.
   *
   * @param maximumSize in bytes. Default 5120.
   */
  readonly fetchDocument: (url: string, maximumSize?: number) => Promise<unknown>
}

export const booleanMember = (name: string): ClientMember => ({
  name,
  mistakeIn: (value) => (isBoolean(value) ? undefined : 'must be true or false.'),
})

export const isMemberName = (name: string): boolean => /^[a-z][a-z0-9_]*$/.test(name)
