import { nearestName } from '../primitives/configuration-error'
import { type Field, kind, optional, type Place, usual } from '../primitives/schema'
import { isRecord } from '../primitives/values'
import {
  type AuthenticationMethodDescription,
  builtInMethods,
  type Client,
  type ClientMember,
  isMemberName,
} from './client'
import { isJson, type Json, keepable } from './json'
import { cureForOffer } from './plug-in-names'

interface Offer {
  readonly authenticationMethods: readonly AuthenticationMethodDescription[] | undefined
  readonly members?: readonly ClientMember[] | undefined
}

type Entries = Readonly<Record<string, Json>>

const ofMethods = usual(
  {},
  kind(
    isRecord,
    'must be an object that maps the name of a method to what the method stores for the client.',
  ),
)

export const credentialsOf: Field<Entries, Offer> = (given, at, name) => {
  const { authenticationMethods: methods } = at.context
  const credentials = noEntries()
  for (const [method, value] of Object.entries(ofMethods(given, at, name))) {
    // A database has null for a missing entry.
    if (value === null) continue
    const path = `${name}.${method}`
    const offered = methods?.find((each) => each.name === method)
    if (methods !== undefined && offered === undefined) at.wrong(path, notOffered(method, methods))
    // RFC 6749 2.3: an empty credential proves nothing.
    else if (isEmpty(value)) at.wrong(path, 'is empty, and so proves nothing; leave it out.')
    else credentials[method] = anEntry(offered)(value, at, path) ?? null
  }
  return Object.freeze(credentials)
}

const isEmpty = (value: unknown): boolean =>
  value === '' || (isJson(value) && typeof value === 'object' && Object.keys(value ?? {}).length === 0)

function notOffered(name: string, methods: readonly AuthenticationMethodDescription[]): string {
  if (builtInMethods.includes(name)) return 'belongs in client_secret_hashes, as a digest.'
  const offered = methods.map((method) => method.name).join(', ')
  return `is not a method with an entry in credentials; this server has ${offered || 'none'}.${cureForOffer(name)}`
}

/** Without a prototype: `constructor` is a good name. */
const noEntries = (): Record<string, Json> => Object.create(null)

/** A copy: the host cannot change it later. */
const anEntry =
  (checker: ClientMember | AuthenticationMethodDescription | undefined): Field<Json | undefined> =>
  (given, at, name) => {
    if (keepable(given, at, name) === undefined) return undefined
    const value: Json = JSON.parse(JSON.stringify(given))
    const mistake = checker && mistakeBy(checker, () => checker.mistakeIn?.(value))
    if (mistake !== undefined) at.wrong(name, mistake)
    return deepFrozen(value)
  }

// Plug-ins of hosts may throw.
function mistakeBy({ name }: { readonly name: string }, check: () => string | undefined): string | undefined {
  try {
    return check()
  } catch {
    return `must be what the plug-in of ${name} can read.`
  }
}

function deepFrozen(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(value)) deepFrozen(inner)
  return Object.freeze(value)
}

// A store of clients must not hold a secret in clear.
const mayBePlain = (name: string) => isMemberName(name) && !/secret|password/.test(name)

/** Without the list of a server: every member that looks neither misspelt nor like a secret. */
export const possibleMembers = (source: object, own: readonly string[]): readonly string[] =>
  Object.keys(source).filter((name) => mayBePlain(name) && nearestName(name, own) === undefined)

export function readMembers(at: Place<Offer>, names: readonly string[]): Entries {
  const members = noEntries()
  for (const name of names) {
    const value = at.field(name, optional(anEntry(at.context.members?.find((each) => each.name === name))))
    if (value !== undefined) members[name] = value
  }
  return Object.freeze(members)
}

export function checkMembers(client: Client, at: Place<Offer>): void {
  for (const member of at.context.members ?? []) {
    const value = client.members[member.name]
    const conflict =
      value === undefined ? undefined : mistakeBy(member, () => member.conflictIn?.(value, client))
    if (conflict !== undefined) at.wrong(member.name, conflict)
  }
}
