import type { AuthorizationIndex } from '../authorization/authorization-index'
import type { ClientRegistry } from '../clients/client-store'
import type { DynamicClientStore } from '../clients/dynamic-client-store'
import type { KeyStore } from '../jwt/signing-keys/key-store'
import type { Option } from './command-options'

type Fields = Readonly<Record<string, unknown>>

/** The result of a command: one object or a list. Holds no digest. */
export interface CommandAnswer {
  readonly found: Fields | readonly Fields[]
  /** A note for people, which is not part of the output. */
  readonly note?: string
  /** What to say in place of an empty list. */
  readonly ifEmpty?: string
  /** The error of a command that still has output. */
  readonly trouble?: unknown
}

/** The arguments of a command. */
export interface Order {
  /** The client or the key that the command is about; empty if it takes none. */
  readonly name: string
  /** The options of the command, by field or option name. */
  readonly fields: Fields
  /** The environment variable CLIENT_SECRET. No option takes a secret, because other users can read command lines. */
  readonly secret: string | undefined
  /** The environment variable SIGNING_KEY_SECRETS, newest secret first. */
  readonly keySecrets: readonly string[]
}

/** The part of a store that commands use. */
export interface CommandStore {
  readonly clients: ClientRegistry
  readonly dynamicClients: DynamicClientStore
  readonly keys: KeyStore
  readonly index: AuthorizationIndex
}

/** A command on the store of a server. */
export interface Command {
  readonly meaning: string
  /** What follows the name of the command. Default: nothing. */
  readonly takes?: 'client_id' | 'kid'
  readonly options: Readonly<Record<string, Option>>
  run(store: CommandStore, order: Order): Promise<CommandAnswer>
}
