import { isDeepStrictEqual } from 'node:util'
import { ConfigurationError, type ConfigurationIssue } from '../primitives/configuration-error'
import { isRecord, isText } from '../primitives/values'
import type { ClientRegistration } from '../protocol/client'
import {
  anyCapabilities,
  parseWrittenClient,
  registrationOf,
  type ServerCapabilities,
} from '../protocol/parse-client'
import { isDeleted } from '../stores/client-records'
import type { ClientRegistry } from '../stores/registered'

export const unknownClient: ConfigurationIssue = {
  path: 'client_id',
  message: 'names no client that is registered here.',
}

export const cannotChange = (...issues: readonly ConfigurationIssue[]): ConfigurationError =>
  new ConfigurationError('The client cannot be changed:', issues)

/** Of registered clients, or of those that registered themselves. */
async function updated<Entry>(
  clients: { update(clientId: string, change: (entry: Entry) => Entry): Promise<Entry | undefined> },
  clientId: string,
  change: (entry: Entry) => Entry,
): Promise<Entry> {
  const found = isText(clientId) ? await clients.update(clientId, change) : undefined
  if (found === undefined) throw cannotChange(unknownClient)
  return found
}

export const changeRegistration = (
  clients: ClientRegistry,
  clientId: string,
  change: (registration: ClientRegistration) => ClientRegistration,
): Promise<ClientRegistration> =>
  updated(clients, clientId, (registration) => {
    if (isDeleted(registration)) throw cannotChange(unknownClient)
    return change(registration)
  })

type Changeable = Omit<
  ClientRegistration,
  'client_id' | 'client_type' | 'client_secret_hashes' | 'disabled' | 'deleted'
>

/** Replaces whole members. Undefined and null remove a member, so the default applies. */
export type ClientChange = { readonly [Member in keyof Changeable]?: Changeable[Member] | null | undefined }

/**
 * Changes a registration in one atomic act; a simultaneous rotation of the secret loses nothing. Grants take
 * the change at their next use. An open authorization request at a removed redirection URI ends on a page.
 * Without the grant type `refresh_token`, refresh tokens are of no use. Access tokens stay as they are.
 *
 * @param offered the server's capabilities, a limit. Default: no limit; other rules apply.
 * @throws ConfigurationError that lists every mistake of the result, or for an unknown client.
 */
export async function changeClient(
  clients: ClientRegistry,
  clientId: string,
  change: ClientChange,
  offered: ServerCapabilities = anyCapabilities,
): Promise<void> {
  await changeFrom(clients, clientId, change, () => offered)
}

export async function changeFrom(
  clients: ClientRegistry,
  clientId: string,
  change: unknown,
  offeredFor: (current: ClientRegistration) => ServerCapabilities,
): Promise<ClientRegistration> {
  if (!isRecord(change)) throw cannotChange({ path: 'change', message: 'must be an object.' })
  return changeRegistration(clients, clientId, (current) => changedBy(current, change, offeredFor(current)))
}

// A grant of a client that had to authenticate must not pass to everybody who finds a refresh token.
const fixed: Readonly<Record<string, string>> = {
  client_id: 'cannot change: the client would be another one.',
  client_type: 'cannot change: register another client.',
  client_secret_hashes: 'cannot change here: call rotateClientSecret().',
  disabled: 'cannot change here: call disableClient() or enableClient().',
  deleted: 'cannot change here: call deleteClient().',
}

/** Without prototypes, in which a parsed registration and a stored one differ. */
const plain = (registration: ClientRegistration): unknown => JSON.parse(JSON.stringify(registration))

function changedBy(
  current: ClientRegistration,
  change: Readonly<Record<string, unknown>>,
  offered: ServerCapabilities,
): ClientRegistration {
  const before: ReadonlyMap<string, unknown> = new Map(Object.entries(current))
  // A form may also send unchanged members.
  const issues: ConfigurationIssue[] = Object.entries(fixed).flatMap(([path, message]) =>
    Object.hasOwn(change, path) && !isDeepStrictEqual(change[path], before.get(path))
      ? [{ path, message }]
      : [],
  )
  if (issues.length > 0) throw cannotChange(...issues)
  // An unknown name without a value stays, because it may be misspelt.
  const merged = Object.entries({ ...current, ...change })
    .map(([name, value]): [string, unknown] => [name, value ?? undefined])
    .filter(([name, value]) => value !== undefined || !before.has(name))
  const client = parseWrittenClient(Object.fromEntries(merged), '', issues, offered)
  if (issues.length > 0) throw cannotChange(...issues)
  const next = registrationOf(client)
  return isDeepStrictEqual(plain(next), plain(current)) ? current : next
}

/**
 * Disables a client, at once and on every process. Client endpoints refuse it with `invalid_client`; the
 * authorization endpoint treats it as unknown. Guards do not check the client: its access tokens work until
 * they expire, or until the server's `revoke()` ends them.
 *
 * @throws ConfigurationError for an unknown client.
 */
export async function disableClient(clients: ClientRegistry, clientId: string): Promise<void> {
  await changeRegistration(clients, clientId, (registration) => withDisabled(registration, true))
}

/** Enables a disabled client, with its old secrets. @throws ConfigurationError for an unknown client. */
export async function enableClient(clients: ClientRegistry, clientId: string): Promise<void> {
  await changeRegistration(clients, clientId, (registration) => withDisabled(registration, false))
}

/**
 * Deletes a client for ever, at once and on every process. The registry keeps only the `client_id`, so it
 * never names another client (RFC 6749 2.2). Its access tokens work until they expire. May be repeated.
 *
 * @throws ConfigurationError for an unknown client.
 */
export async function deleteClient(clients: ClientRegistry, clientId: string): Promise<void> {
  await updated(clients, clientId, restOf)
}

function restOf(registration: ClientRegistration): ClientRegistration {
  const { client_id, client_type } = registration
  return isDeleted(registration)
    ? registration
    : { client_id, client_type, scope: '', disabled: true, deleted: true }
}

export const withDisabled = (registration: ClientRegistration, disabled: boolean): ClientRegistration =>
  (registration.disabled === true) === disabled ? registration : { ...registration, disabled }
