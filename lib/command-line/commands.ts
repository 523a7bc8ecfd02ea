import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigurationError, isRecord, isTexts } from '../primitives/options-reader'
import { anyCapabilities } from '../protocol/parse-client'
import { unknownClient } from '../clients/change-registration'
import { dropOldClientSecrets, rotateClientSecret, unsettledSecret } from '../clients/client-secrets'
import { registerFrom } from '../clients/register-client'
import { isDeleted } from '../clients/client-store'
import { lastUsesIn, membersIn, summaryOf, withoutDigests } from './client-fields'
import type { Command } from './command'
import { listOptions, metadataOptions, rotationOptions, shutOutOptions } from './command-options'
import { keyCommands } from './key-commands'
import { change, remove } from './life-commands'
import { registrarOf, shutOut } from './registrar'

const unsettledNote =
  'The command does not know whether the client has this secret now. Put the secret into the variable CLIENT_SECRET and repeat the command with --repeat. A rotation without --repeat could drop the secret that is in use.'
const shownOnce = 'The secret is shown only now: the store keeps its digest.'

const add: Command = {
  meaning: 'register a client; issues a client_id and, to a confidential client, a secret',
  options: metadataOptions,
  async run({ clients }, { fields: { member, ...metadata } }) {
    const members = membersIn(isTexts(member) ? member : [], 'The client cannot be registered:')
    const known = [...members.keys()].map((name) => ({ name, mistakeIn: () => undefined }))
    // The server checks these values. Any other unknown name is a mistake.
    const offered = { ...anyCapabilities, members: known }
    const issued = await registerFrom(clients, { ...Object.fromEntries(members), ...metadata }, offered)
    return issued.client_secret === undefined
      ? { found: { client_id: issued.client_id } }
      : { found: { ...issued }, note: shownOnce }
  },
}

const list: Command = {
  meaning: 'list every client, with the day of its last use',
  options: listOptions,
  async run({ clients }, { fields }) {
    const wantsDeleted = fields['deleted'] === true
    const listed = (await clients.list()).filter((client) => isDeleted(client) === wantsDeleted)
    const days = await lastUsesIn(clients)
    return {
      found: listed.map((client) => summaryOf(client, days.get(client.client_id))),
      ...(wantsDeleted && { ifEmpty: 'No client was deleted here.' }),
    }
  },
}

const show: Command = {
  meaning: 'show the registration of a client',
  takes: 'client_id',
  options: {},
  async run({ clients, dynamicClients }, { name: clientId }) {
    const registered = await clients.find(clientId)
    const found = registered ?? (await dynamicClients.find(clientId))?.registration
    if (found === undefined || isDeleted(found))
      throw new ConfigurationError('The client cannot be shown:', [unknownClient])
    const last_used = (await lastUsesIn(clients)).get(clientId)
    return { found: { ...withoutDigests(found), ...(last_used !== undefined && { last_used }) } }
  },
}

const rotateSecret: Command = {
  meaning: 'issue a new secret; the current secret also works, until --finish',
  takes: 'client_id',
  options: rotationOptions,
  async run({ clients }, { name: clientId, fields, secret }) {
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
        note: unsettledNote,
        trouble,
      }
    }
  },
}

const disable: Command = {
  meaning:
    'disable a client at once; its client_id stays taken, and its access tokens work until they expire, or end with --issuer',
  takes: 'client_id',
  options: shutOutOptions,
  async run(store, { name: clientId, fields }) {
    const said = await shutOut(store, fields['issuer'], (registrar) => registrar.disableClient(clientId))
    return {
      found: { client_id: clientId, disabled: true },
      ...said,
    }
  },
}

const enable: Command = {
  meaning: 'enable a disabled client again',
  takes: 'client_id',
  options: {},
  async run(store, { name: clientId }) {
    await registrarOf(store).enableClient(clientId)
    return { found: { client_id: clientId, disabled: false } }
  },
}

const clientCommands: Readonly<Record<string, Command>> = {
  add,
  list,
  show,
  change,
  'rotate-secret': rotateSecret,
  disable,
  enable,
  delete: remove,
}

const under = (subject: string, named: Readonly<Record<string, Command>>) =>
  Object.entries(named).map(([name, command]): [string, Command] => [`${subject} ${name}`, command])

export const commands: ReadonlyMap<string, Command> = new Map([
  ...under('client', clientCommands),
  ...under('keys', keyCommands),
])

interface Configuration {
  readonly options: unknown
  /** JSON can hold neither a store nor a function. */
  readonly plain: boolean
}

/** Runs the code of a module. */
export async function loadConfiguration(file: string): Promise<Configuration> {
  const path = resolve(file)
  if (path.endsWith('.json')) {
    const options: unknown = JSON.parse(await readFile(path, 'utf8'))
    return { options: isRecord(options) ? { resourceOwner: noOwner, ...options } : options, plain: true }
  }
  const module: unknown = await import(pathToFileURL(path).href)
  const found = exported(module)
  return { options: typeof found === 'function' ? await found() : found, plain: false }
}

const noOwner = () => undefined

// import() wraps a CommonJS module in a `default`, which may have its own `default` inside.
function exported(value: unknown, depth = 0): unknown {
  if (!isRecord(value) || depth > 2) return value
  const inner = value['options'] ?? value['default']
  return inner === undefined ? value : exported(inner, depth + 1)
}
