import type { AuthorizationIndex } from '../authorization/authorization-index'
import type { ClientRegistry } from '../clients/client-store'
import type { DynamicClientStore } from '../clients/dynamic-client-store'
import type { KeyStore } from '../jwt/signing-keys/key-store'
import type { Option } from './command-options'

type Fields = Readonly<Record<string, unknown>>

/** Holds no digest. */
export interface CommandAnswer {
  readonly found: Fields | readonly Fields[]
  /** For people. */
  readonly note?: string
  /** In place of an empty list. */
  readonly ifEmpty?: string
  readonly trouble?: unknown
}

export interface Order {
  /** The client or the key; empty if the command takes none. */
  readonly name: string
  readonly fields: Fields
  /** The environment variable CLIENT_SECRET. No option takes a secret: other users can read command lines. */
  readonly secret: string | undefined
  /** The environment variable SIGNING_KEY_SECRETS, newest first. */
  readonly keySecrets: readonly string[]
}

export interface CommandStore {
  readonly clients: ClientRegistry
  readonly dynamicClients: DynamicClientStore
  readonly keys: KeyStore
  readonly index: AuthorizationIndex
}

export interface Command {
  readonly meaning: string
  readonly takes?: 'client_id' | 'kid'
  readonly options: Readonly<Record<string, Option>>
  run(store: CommandStore, order: Order): Promise<CommandAnswer>
}
