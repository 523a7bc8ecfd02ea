import type { OptionsReader } from '../primitives/options-reader'
import { isBoolean } from '../primitives/values'
import type { Client } from './client'
import { isKeepable, type Json, keepableExpectation } from './json'
import { membersOfOthers } from './plug-in-names'

/** Of a plug-in (RFC 7591 2), such as `subject_type`. */
export interface ClientMember {
  /** Lower-case letters, digits and `_`. */
  readonly name: string
  /**
   * Checks JSON of at most 16 384 characters, never null. Returns the rest of a sentence that begins with the name,
   * such as `must be public or pairwise.`: ASCII without quotes and without the value, because clients that register
   * themselves get it. The value is refused, too, if this throws.
   */
  mistakeIn(value: Json): string | undefined
  /**
   * Whether a client that states the value itself gets it. Otherwise its registration and the response leave it out, as
   * with grant types. Default: every good value.
   */
  isGranted?(value: Json): boolean
  /**
   * Checks the value against the other members, once each is good by itself; see {@link mistakeIn}. Default: fits every
   * client.
   */
  conflictIn?(value: Json, client: Client): string | undefined
  /**
   * Verifies what a client states about itself: when it registers (RFC 7591), changes its registration (RFC 7592), or
   * when the server fetches its metadata document. Runs after the other checks, and never for a registration of the
   * host. Do not catch errors of `fetchDocument`. See {@link mistakeIn}. Default: nothing to verify.
   */
  verify?(value: Json, statement: ClientStatement): Promise<string | undefined>
}

export interface ClientStatement {
  readonly client: Client
  /**
   * Fetches JSON over https, never from an address inside the network of the server, in 2 seconds at most. Counts for
   * the sender of the request.
   *
   * @param maximumSize in bytes. Default 5120.
   */
  readonly fetchDocument: (url: string, maximumSize?: number) => Promise<unknown>
}

export const booleanMember = (name: string): ClientMember => ({
  name,
  mistakeIn: (value) => (isBoolean(value) ? undefined : 'must be true or false.'),
})

type Members = Client['members']

const noMembers: Members = Object.freeze(Object.create(null))

// What the package itself reads or writes in registrations.
const ownNames = {
  client_id: true,
  client_type: true,
  client_secret_hashes: true,
  credentials: true,
  token_endpoint_auth_method: true,
  redirect_uris: true,
  post_logout_redirect_uris: true,
  loopback_redirect_uris: true,
  dynamic_redirect_query: true,
  insecure_redirect_uris: true,
  grant_types: true,
  response_types: true,
  token_type: true,
  scope: true,
  access_token_lifetime: true,
  refresh_token_lifetime: true,
  grant_lifetime: true,
  refresh_token_rotation: true,
  may_introspect: true,
  disabled: true,
  client_name: true,
  description: true,
  client_uri: true,
  logo_uri: true,
  policy_uri: true,
  tos_uri: true,
  members: true,
  deleted: true,
  selfRegistered: true,
  metadataDocument: true,
} satisfies Record<keyof Client, true>

const ofRegistration: ReadonlySet<string> = new Set([
  'client_secret',
  'client_secret_expires_at',
  'client_id_issued_at',
  'registration_access_token',
  'registration_client_uri',
])

export const isOwnMember = (name: string): boolean =>
  Object.hasOwn(ownNames, name) || ofRegistration.has(name)

export const isMemberName = (name: string): boolean => /^[a-z][a-z0-9_]*$/.test(name)

// A store of clients must not hold a secret in clear.
const mayBePlain = (name: string) => isMemberName(name) && !/secret|password/.test(name)

/**
 * After all other members. @param members undefined if unknown: then each further member counts as one of a plug-in,
 * unless it looks misspelt or like a secret.
 */
export function readMembers(reading: OptionsReader, members: readonly ClientMember[] | undefined): Members {
  const names = members?.map(({ name }) => name) ?? reading.unread().filter(mayBePlain)
  if (members !== undefined) for (const [name, cure] of membersOfOthers(names)) reading.refuse(name, cure)
  const read: Record<string, Json> = Object.create(null)
  for (const name of names) {
    const value = reading.take(name)
    if (value === undefined) continue
    if (isKeepable(value)) read[name] = JSON.parse(JSON.stringify(value))
    else reading.wrong(name, keepableExpectation)
  }
  for (const member of members ?? []) {
    const value = read[member.name]
    const mistake = value === undefined ? undefined : mistakeBy(member, () => member.mistakeIn(value))
    if (mistake !== undefined) reading.wrong(member.name, mistake)
  }
  return Object.keys(read).length === 0 ? noMembers : deepFrozen(read)
}

export function checkMembers(
  client: Client,
  members: readonly ClientMember[] | undefined,
  reading: OptionsReader,
): void {
  for (const member of members ?? []) {
    const value = client.members[member.name]
    const conflict =
      value === undefined ? undefined : mistakeBy(member, () => member.conflictIn?.(value, client))
    if (conflict !== undefined) reading.wrong(member.name, conflict)
  }
}

// Members of hosts may throw.
function mistakeBy({ name }: ClientMember, check: () => string | undefined): string | undefined {
  try {
    return check()
  } catch {
    return `must be what the plug-in of ${name} can read.`
  }
}

function deepFrozen<Value extends object>(value: Value): Value {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) deepFrozen(inner)
  return Object.freeze(value)
}
