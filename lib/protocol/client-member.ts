import { nearestName } from '../primitives/nearest-name'
import { type Field, optional, type Place } from '../primitives/schema'
import { isBoolean } from '../primitives/values'
import type { Client } from './client'
import { type Json, keepable } from './json'

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

export const isMemberName = (name: string): boolean => /^[a-z][a-z0-9_]*$/.test(name)

// A store of clients must not hold a secret in clear.
const mayBePlain = (name: string) => isMemberName(name) && !/secret|password/.test(name)

/**
 * Without the list of a server, each further member counts as one of a plug-in, unless it looks misspelt or like a
 * secret.
 */
export const possibleMembers = (source: object, own: readonly string[]): readonly string[] =>
  Object.keys(source).filter((name) => mayBePlain(name) && nearestName(name, own) === undefined)

export function readMembers(
  at: Place<{ readonly members?: readonly ClientMember[] | undefined }>,
  names: readonly string[],
): Members {
  const memberNamed = (name: string) => at.context.members?.find((member) => member.name === name)
  const fields = Object.fromEntries(names.map((name) => [name, optional(aValue(memberNamed(name)))]))
  const given = Object.entries(at.read(fields)).filter(([, value]) => value !== undefined)
  if (given.length === 0) return noMembers
  return deepFrozen(Object.assign(Object.create(null), Object.fromEntries(given)))
}

/** A copy that the host cannot change later. */
function aValue(member: ClientMember | undefined): Field<Json | undefined> {
  return (given, at, name) => {
    if (keepable(given, at, name) === undefined) return undefined
    const value: Json = JSON.parse(JSON.stringify(given))
    const mistake = member && mistakeBy(member, () => member.mistakeIn(value))
    if (mistake !== undefined) at.wrong(name, mistake)
    return value
  }
}

export function checkMembers(
  client: Client,
  at: Place<{ readonly members?: readonly ClientMember[] | undefined }>,
): void {
  for (const member of at.context.members ?? []) {
    const value = client.members[member.name]
    const conflict =
      value === undefined ? undefined : mistakeBy(member, () => member.conflictIn?.(value, client))
    if (conflict !== undefined) at.wrong(member.name, conflict)
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
