import type { DocumentFetch } from './document-fetch/document-fetch'
import type { Client, ClientRegistration, FindClient } from '../protocol/client'
import { isRecord } from '../primitives/options-reader'
import type { ExtensionMetadata } from '../protocol/extension-metadata'
import type { ServerCapabilities } from '../protocol/parse-client'
import type { ClientRegistry, ClientStore } from './client-store'
import type { SharedCache } from './shared-cache'

/** Registered clients: a list, a store that finds them, or a registry that can also register clients. */
export type RegisteredClients = readonly ClientRegistration[] | ClientStore | ClientRegistry

/**
 * Finds clients with values of the server, such as `metadataDocuments()`. The option `clients` takes a source in place
 * of registered clients.
 */
export interface ClientSource {
  /** Opens the source for one server. Each server calls this function once, at construction. */
  open(server: ClientSourceServer): OpenClients
}

/** What a source knows of its server. */
export interface ClientSourceServer {
  /** The issuer. If the option is faulty, so is this text, and the server does not start. */
  readonly issuer: string
  /** What the server offers, and so what a client may use. */
  readonly capabilities: ServerCapabilities
  /** Whether the server has an authorization endpoint. */
  readonly hasAuthorizationEndpoint: boolean
  /** A cache that all processes of the server share, if the store has one. Each call has the deadline of the store. */
  readonly sharedCache: SharedCache
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Seconds for which a code or token of this server may live. A refresh token may live on by its next use. */
  readonly longestLifetime: number
  /** Parses a registration by every rule of this server. @throws ConfigurationError that lists its mistakes. */
  parse(registration: unknown): Client
  /**
   * Opens registered clients that stand beside the source, as the server opens those of its option `clients`.
   *
   * @param clients {@link RegisteredClients}. Anything else is a mistake.
   * @param path the place of the clients below the option `clients`, such as `registered`, for mistakes.
   */
  openRegistered(clients: unknown, path: string): OpenClients
  /**
   * Adds a mistake to those of the options, which the server reports together.
   *
   * @param path the place below the option `clients`, such as `allow[0]`; empty for the option itself.
   * @param message the mistake and its cure, as the rest of a sentence that begins with the path.
   */
  wrong(path: string, message: string): void
}

/** Clients, as a server uses them. */
export interface OpenClients {
  /** Finds a client. Runs for each request of a client. */
  readonly find: FindClient
  /**
   * Runs whenever a client of a resource owner gets a code or a token. The server waits for the promise, and ignores its
   * outcome.
   */
  readonly noteUse?: ((clientId: string) => Promise<void> | undefined) | undefined
  /** The registered clients, if there are any: the server registers clients there, and `lint` looks at them. */
  readonly registered?: { readonly clients: RegisteredClients; readonly path: string } | undefined
  /** Fetches documents of these clients, such as their keys at `jwks_uri`. Default: a fetch of the server. */
  readonly documents?: DocumentFetch | undefined
  /** Members that the metadata gets. Default none. */
  readonly metadata?: ExtensionMetadata
}

/** Whether a value can be opened as a source of clients. */
export function isClientSource(value: unknown): value is ClientSource {
  return isRecord(value) && typeof value['open'] === 'function'
}
