import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ClientRegistration } from '../protocol/client'
import { isRecord } from '../protocol/configuration'
import { anyCapabilities } from '../protocol/parse-client'
import { cannotChange, disableClient, enableClient } from '../registration/change-registration'
import { dropOldClientSecrets, rotateClientSecret, unsettledSecret } from '../registration/client-secrets'
import { registerFrom } from '../registration/register-client'
import type { ClientRegistry } from '../stores/client-store'
import { metadataOptions, type Option, rotationOptions } from './options'

type Fields = Readonly<Record<string, unknown>>

/** What a command found or did: one thing or a list, without any digest. */
export interface CommandAnswer {
  readonly found: Fields | readonly Fields[]
  /** For whoever reads along; not part of the answer. */
  readonly note?: string
  /** What went wrong, though there is an answer. */
  readonly trouble?: unknown
}

/** What a command works with: its client, if it takes one, and its own options. */
export interface Order {
  readonly clientId: string
  readonly fields: Fields
  /** The environment variable CLIENT_SECRET: a command line is no place for a secret, because others can read it. */
  readonly secret: string | undefined
}

/** One command on clients. */
export interface Command {
  readonly meaning: string
  readonly takesClient: boolean
  readonly options: Readonly<Record<string, Option>>
  run(clients: ClientRegistry, order: Order): Promise<CommandAnswer>
}

const perhaps =
  'Whether the client has this secret now is not known. Put it into the variable CLIENT_SECRET and repeat the command with --repeat; a rotation without it could drop the secret that is in use.'
const shownOnce = 'The secret is shown this once: only its digest is kept.'

const add: Command = {
  meaning: 'register a client; issues its client_id and, to a confidential one, its secret',
  takesClient: false,
  options: metadataOptions,
  async run(clients, { fields }) {
    const issued = await registerFrom(clients, fields, anyCapabilities)
    return issued.client_secret === undefined
      ? { found: { client_id: issued.client_id } }
      : { found: { ...issued }, note: shownOnce }
  },
}

const list: Command = {
  meaning: 'every client',
  takesClient: false,
  options: {},
  run: async (clients) => ({ found: (await clients.list()).map(summaryOf) }),
}

const show: Command = {
  meaning: 'what is registered of a client',
  takesClient: true,
  options: {},
  async run(clients, { clientId }) {
    const registration = await clients.find(clientId)
    if (registration === undefined)
      throw cannotChange('client_id', 'names no client that is registered here.')
    return { found: withoutDigests(registration) }
  },
}

const rotateSecret: Command = {
  meaning: 'issue a new secret; the current one works on as the old one until --finish',
  takesClient: true,
  options: rotationOptions,
  async run(clients, { clientId, fields, secret }) {
    if (fields['finish'] === true) {
      await dropOldClientSecrets(clients, clientId)
      return { found: { client_id: clientId, client_secrets: 1 } }
    }
    const repeated = fields['repeat'] === true ? (secret ?? '') : undefined
    try {
      return { found: { ...(await rotateClientSecret(clients, clientId, repeated)) }, note: shownOnce }
    } catch (trouble) {
      const unsettled = unsettledSecret(clients, clientId)
      if (unsettled === undefined) throw trouble
      return {
        found: { client_id: clientId, client_secret: unsettled },
        note: perhaps,
        trouble,
      }
    }
  },
}

const disable: Command = {
  meaning: 'shut a client out at once; its client_id stays taken',
  takesClient: true,
  options: {},
  async run(clients, { clientId }) {
    await disableClient(clients, clientId)
    return {
      found: { client_id: clientId, disabled: true },
      note: 'Access tokens that it has already work until they expire or are revoked.',
    }
  },
}

const enable: Command = {
  meaning: 'let a disabled client in again',
  takesClient: true,
  options: {},
  async run(clients, { clientId }) {
    await enableClient(clients, clientId)
    return { found: { client_id: clientId, disabled: false } }
  },
}

/** By name. */
export const commands: ReadonlyMap<string, Command> = new Map(
  Object.entries({ add, list, show, 'rotate-secret': rotateSecret, disable, enable }),
)

function summaryOf(registration: ClientRegistration): Fields {
  const { client_id, client_name, client_type, grant_types, scope, disabled, client_secrets } =
    withoutDigests(registration)
  return { client_id, client_name, client_type, grant_types, scope, client_secrets, disabled }
}

// A digest helps whoever wants to guess a chosen secret, and nobody else: their number says all that a reader needs.
function withoutDigests({ client_secret_hashes, ...rest }: ClientRegistration) {
  const client_secrets = Array.isArray(client_secret_hashes) ? client_secret_hashes.length : 0
  return { ...rest, disabled: rest.disabled === true, client_secrets }
}

/** What a file of configuration holds, unproven. */
export interface Configuration {
  readonly options: unknown
  /** JSON: it cannot hold a store, nor any function. */
  readonly plain: boolean
}

/** Loads options from a module or from JSON. What the module does when it is loaded, it does. */
export async function loadConfiguration(file: string): Promise<Configuration> {
  const path = resolve(file)
  if (path.endsWith('.json')) {
    const options: unknown = JSON.parse(await readFile(path, 'utf8'))
    return { options: isRecord(options) ? { resourceOwner: nobody, ...options } : options, plain: true }
  }
  const module: unknown = await import(pathToFileURL(path).href)
  const found = exported(module)
  return { options: typeof found === 'function' ? await found() : found, plain: false }
}

const nobody = () => undefined

// A CommonJS module is the default of what import() finds, and may have a default of its own in there.
function exported(value: unknown, depth = 0): unknown {
  if (!isRecord(value) || depth > 2) return value
  const inner = value['options'] ?? value['default']
  return inner === undefined ? value : exported(inner, depth + 1)
}
