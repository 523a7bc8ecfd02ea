import { generateClientSecret, generatedHash } from '../client-authentication/client-secret'
import { ConfigurationError, type ConfigurationIssue } from '../primitives/configuration-error'
import { BoundedMap } from '../primitives/maps'
import { isRecord, isText } from '../primitives/values'
import { isDeepStrictEqual } from 'node:util'
import { type Client, type ClientRegistration, liveSecrets } from '../protocol/client'
import { createId, secureRandom } from '../protocol/credential'
import {
  anyCapabilities,
  parseStoredClient,
  parseWrittenClient,
  registrationOf,
  type ServerCapabilities,
} from '../protocol/parse-client'
import { type ClientRegistry, isDeleted } from '../stores/clients'

/**
 * The metadata of a new client (RFC 7591 2). Only a client that moves here brings its own `client_id` and
 * `client_secret_hashes`.
 */
export type ClientMetadata = Omit<ClientRegistration, 'client_id'> & {
  readonly client_id?: string | undefined
}

/** RFC 6749 2.2 and 2.3. */
export interface IssuedCredentials {
  /** 22 characters of base64url, 132 random bits; or the `client_id` of the metadata. */
  readonly client_id: string
  /**
   * 43 characters of base64url, 258 random bits. Undefined for a public client, and for one with its own
   * digests. The registration holds only its digest.
   */
  readonly client_secret: string | undefined
}

/**
 * Issues an identifier and, to a confidential client without its own digests, a secret.
 *
 * @param offered the server's capabilities. Default: no limit.
 * @throws ConfigurationError with every mistake, or if the `client_id` is taken (RFC 6749 2.2).
 */
export function registerClient(
  clients: ClientRegistry,
  metadata: ClientMetadata,
  offered: ServerCapabilities = anyCapabilities,
): Promise<IssuedCredentials> {
  return registerFrom(clients, metadata, offered)
}

export async function registerFrom(
  clients: ClientRegistry,
  metadata: unknown,
  offered: ServerCapabilities,
): Promise<IssuedCredentials> {
  if (!isRecord(metadata)) throw refused([{ path: 'metadata', message: 'must be an object.' }])
  const secret = needsSecret(metadata) ? generateClientSecret() : undefined
  const issued = {
    client_id: metadata['client_id'] ?? createId(secureRandom),
    client_secret_hashes:
      secret === undefined ? metadata['client_secret_hashes'] : [secret.client_secret_hash],
  }
  const client = readNew({ ...metadata, ...issued }, offered)
  if (!(await clients.add(registrationOf(client))))
    throw refused([{ path: 'client_id', message: 'is taken: another client has it, and keeps it.' }])
  return { client_id: client.client_id, client_secret: secret?.client_secret }
}

// RFC 6749 2.3. `parseClient` reports an empty list of digests.
function needsSecret(metadata: Readonly<Record<string, unknown>>): boolean {
  return (
    metadata['client_type'] === 'confidential' &&
    (metadata['client_secret_hashes'] ?? undefined) === undefined
  )
}

function readNew(source: unknown, offered: ServerCapabilities): Client {
  const issues: ConfigurationIssue[] = []
  // A digest that no server here verifies could be a secret in clear.
  const known = { ...offered, verifiesDigests: offered.verifiesDigests ?? false }
  const client = parseWrittenClient(source, '', issues, known)
  // Every refusal costs as many bcrypt comparisons as the dearest client.
  if (client.client_secret_hashes.length > liveSecrets)
    issues.push({
      path: 'client_secret_hashes',
      message: 'must hold two digests at most: one of the previous secret and one of the current secret.',
    })
  if (issues.length > 0) throw refused(issues)
  return client
}

const refused = (issues: readonly ConfigurationIssue[]) =>
  new ConfigurationError('The client cannot be registered:', issues)

export const cannotChange = (...issues: readonly ConfigurationIssue[]): ConfigurationError =>
  new ConfigurationError('The client cannot be changed:', issues)

const wrongMember = (path: string, message: string) => cannotChange({ path, message })

export const unknownClient: ConfigurationIssue = {
  path: 'client_id',
  message: 'names no client that is registered here.',
}

async function updated(
  clients: ClientRegistry,
  clientId: string,
  change: (registration: ClientRegistration) => ClientRegistration,
): Promise<ClientRegistration> {
  const found = isText(clientId) ? await clients.update(clientId, change) : undefined
  if (found === undefined) throw cannotChange(unknownClient)
  return found
}

const changeRegistration = (
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

/** Replaces whole members. Undefined and null remove a member: the default applies. */
export type ClientChange = { readonly [Member in keyof Changeable]?: Changeable[Member] | null | undefined }

/**
 * Changes a registration in one atomic act; a simultaneous rotation of the secret loses nothing. Grants take
 * the change at their next use; access tokens stay. An open request at a removed redirection URI ends on a
 * page.
 *
 * @param offered the server's capabilities. Default: no limit.
 * @throws ConfigurationError with every mistake of the result, or for an unknown client.
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
  if (!isRecord(change)) throw wrongMember('change', 'must be an object.')
  return changeRegistration(clients, clientId, (current) => changedBy(current, change, offeredFor(current)))
}

// A grant of a confidential client must not pass to everybody who finds a refresh token.
const fixed: Readonly<Record<string, string>> = {
  client_id: 'cannot change: the client would be another one.',
  client_type: 'cannot change: register another client.',
  client_secret_hashes: 'cannot change here: call rotateClientSecret().',
  disabled: 'cannot change here: call disableClient() or enableClient().',
  deleted: 'cannot change here: call deleteClient().',
}

// Without prototypes, in which a parsed registration and a stored one differ.
const plain = (registration: ClientRegistration): unknown => JSON.parse(JSON.stringify(registration))

function changedBy(
  current: ClientRegistration,
  change: Readonly<Record<string, unknown>>,
  offered: ServerCapabilities,
): ClientRegistration {
  const before: ReadonlyMap<string, unknown> = new Map(Object.entries(current))
  const issues: ConfigurationIssue[] = Object.entries(fixed).flatMap(([path, message]) =>
    Object.hasOwn(change, path) && !isDeepStrictEqual(change[path], before.get(path))
      ? [{ path, message }]
      : [],
  )
  if (issues.length > 0) throw cannotChange(...issues)
  // An unknown name without a value may be misspelt.
  const merged = Object.entries({ ...current, ...change })
    .map(([name, value]): [string, unknown] => [name, value ?? undefined])
    .filter(([name, value]) => value !== undefined || !before.has(name))
  const client = parseWrittenClient(Object.fromEntries(merged), '', issues, offered)
  if (issues.length > 0) throw cannotChange(...issues)
  const next = registrationOf(client)
  return isDeepStrictEqual(plain(next), plain(current)) ? current : next
}

/**
 * Disables a client, at once and on every process: client endpoints refuse it with `invalid_client`, and to
 * the authorization endpoint it is unknown. Its access tokens work until they expire, or until the server's
 * `revoke()` ends them.
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
 * Deletes a client for ever, at once and on every process. Only its `client_id` stays, and stays taken (RFC
 * 6749 2.2). Its access tokens work until they expire. May be repeated.
 *
 * @throws ConfigurationError for an unknown client.
 */
export async function deleteClient(clients: ClientRegistry, clientId: string): Promise<void> {
  await updated(clients, clientId, (registration) => {
    const { client_id, client_type } = registration
    if (isDeleted(registration)) return registration
    return { client_id, client_type, scope: '', disabled: true, deleted: true }
  })
}

export const withDisabled = (registration: ClientRegistration, disabled: boolean): ClientRegistration =>
  (registration.disabled === true) === disabled ? registration : { ...registration, disabled }

export type RotatedCredentials = IssuedCredentials & { readonly client_secret: string }

const maximumUnsettled = 1000
// The store may hold the secrets of failed rotations all the same.
const unsettled = new WeakMap<ClientRegistry, BoundedMap<string>>()

/**
 * Issues a new secret. The previous secret still works; older secrets do not.
 *
 * If the store fails, the rotation rejects, and may be written all the same. The next call in this process,
 * which remembers 1000 failed rotations, finishes it. In another process, pass the same secret.
 *
 * @param secret the `client_secret` of `generateClientSecret()`. A registered secret stays registered.
 * Default: a new secret.
 * @throws ConfigurationError for an unknown client, one without a secret, or a malformed `secret`.
 */
export async function rotateClientSecret(
  clients: ClientRegistry,
  clientId: string,
  secret?: string,
): Promise<RotatedCredentials> {
  const client_secret = secret ?? unsettledSecret(clients, clientId) ?? generateClientSecret().client_secret
  if (!isGenerated(client_secret))
    throw wrongMember(
      'client_secret',
      'must be a client_secret of generateClientSecret(): 43 characters A-Za-z0-9_-.',
    )
  const client_secret_hash = generatedHash(client_secret)
  let isBegun = false
  try {
    await changeRegistration(clients, clientId, (registration) => {
      const hashes = secretsOf(registration)
      isBegun = true
      if (hashes.includes(client_secret_hash)) return registration
      return { ...registration, client_secret_hashes: [...hashes, client_secret_hash].slice(-liveSecrets) }
    })
  } catch (failure) {
    if (isBegun) unsettledIn(clients).set(clientId, client_secret)
    throw failure
  }
  unsettledIn(clients).delete(clientId)
  return { client_id: clientId, client_secret }
}

export const unsettledSecret = (clients: ClientRegistry, clientId: string): string | undefined =>
  unsettled.get(clients)?.get(clientId)

/**
 * Ends a rotation: only the current secret works.
 *
 * @throws ConfigurationError for an unknown client, one without a secret, or after a failed rotation of this
 * process: no caller may have the current secret.
 */
export async function dropOldClientSecrets(clients: ClientRegistry, clientId: string): Promise<void> {
  if (unsettledSecret(clients, clientId) !== undefined)
    throw wrongMember(
      'client_secret_hashes',
      'may hold a secret that no caller has received, because a rotation failed: repeat rotateClientSecret() first.',
    )
  await changeRegistration(clients, clientId, (registration) => {
    const hashes = secretsOf(registration)
    return hashes.length === 1 ? registration : { ...registration, client_secret_hashes: hashes.slice(-1) }
  })
}

// In its place. A digest that is gone stays gone: another request was faster.
export async function replaceSecretHash(
  clients: ClientRegistry,
  clientId: string,
  from: string,
  to: string,
): Promise<void> {
  await changeRegistration(clients, clientId, (registration) => {
    const hashes = registration.client_secret_hashes?.map((hash) => (hash === from ? to : hash))
    return { ...registration, client_secret_hashes: hashes }
  })
}

function unsettledIn(clients: ClientRegistry): BoundedMap<string> {
  const known = unsettled.get(clients) ?? new BoundedMap<string>(maximumUnsettled)
  unsettled.set(clients, known)
  return known
}

const isGenerated = (secret: unknown) => isText(secret) && /^[A-Za-z0-9_-]{43}$/.test(secret)

// A registration that was broken by hand is not written again.
function secretsOf(registration: ClientRegistration): readonly string[] {
  const { client_secret_hashes } = parseStoredClient(registration, anyCapabilities)
  if (client_secret_hashes.length > 0) return client_secret_hashes
  throw wrongMember('client_secret_hashes', 'is empty: the client has no secret that could be rotated.')
}
