import type { DocumentFetch } from './document-fetch/document-fetch'
import type { Client, ClientRegistration, FindClient } from '../protocol/client'
import { isRecord } from '../primitives/values'
import type { ExtensionMetadata } from '../protocol/extension-metadata'
import type { ServerCapabilities } from '../protocol/parse-client'
import type { ClientStore } from '../stores/client-store'
import type { ClientRegistry } from '../stores/registered'
import type { Documents } from '../stores/records'

export type RegisteredClients = readonly ClientRegistration[] | ClientStore

/** Finds clients with values of the server, such as `metadataDocuments()`. For the option `clients`. */
export interface ClientSource {
  /** Each server calls this once, at construction. */
  open(server: ClientSourceServer): OpenClients
}

export interface ClientSourceServer {
  /** If the option is faulty, so is this text, and the server does not start. */
  readonly issuer: string
  /** What a client may use. */
  readonly capabilities: ServerCapabilities
  readonly hasAuthorizationEndpoint: boolean
  /** In the store, shared by all processes. */
  readonly storedDocuments: Documents
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Seconds that a code or token may live. A refresh token may live on by its next use. */
  readonly longestLifetime: number
  /** By every rule of this server. @throws ConfigurationError that lists the mistakes. */
  parse(registration: unknown): Client
  /**
   * Opens registered clients beside the source.
   *
   * @param clients {@link RegisteredClients}. Anything else is a mistake.
   * @param path the place below the option `clients`, such as `registered`.
   */
  openRegistered(clients: unknown, path: string): OpenClients
  /**
   * Reports a mistake with those of the options.
   *
   * @param path the place below the option `clients`, such as `allow[0]`; empty for the option itself.
   * @param message the mistake and its cure; continues a sentence that begins with the path.
   */
  wrong(path: string, message: string): void
}

export interface OpenClients {
  /** Runs for each request of a client. */
  readonly find: FindClient
  /** Runs when a client of a resource owner gets a code or token. The server awaits it, and ignores its outcome. */
  readonly noteUse?: ((clientId: string) => Promise<void> | undefined) | undefined
  /** `lint` checks them. */
  readonly registered?: { readonly clients: RegisteredClients; readonly path: string } | undefined
  /** With the deadline of the server; undefined if `registered` are not those of a store. */
  readonly registry?: ClientRegistry | undefined
  /** Fetches documents such as keys at `jwks_uri`. Default: the server's fetch. */
  readonly documents?: DocumentFetch | undefined
  /** Members for the metadata. Default none. */
  readonly metadata?: ExtensionMetadata
}

export const isClientSource = (value: unknown): value is ClientSource =>
  isRecord(value) && typeof value['open'] === 'function'
