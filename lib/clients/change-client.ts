import { isDeepStrictEqual } from 'node:util'
import type { ConfigurationIssue } from '../primitives/configuration-error'
import { isRecord } from '../primitives/values'
import type { ClientRegistration } from '../protocol/client'
import {
  anyCapabilities,
  parseWrittenClient,
  registrationOf,
  type ServerCapabilities,
} from '../protocol/parse-client'
import { cannotChange, changeRegistration } from './change-registration'
import { type ClientRegistry, decodeRegistration, encodeRegistration } from '../stores/client-store'

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
  const next = decodeRegistration(encodeRegistration(registrationOf(client)))
  return isDeepStrictEqual(next, current) ? current : next
}
