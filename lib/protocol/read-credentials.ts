import { type Field, kind, usual } from '../primitives/schema'
import { isRecord } from '../primitives/values'
import { builtInMethods, type AuthenticationMethodDescription } from './client'
import { isJson, type Json } from './json'
import { cureForOffer } from './plug-in-names'

interface Offer {
  readonly authenticationMethods: readonly AuthenticationMethodDescription[] | undefined
}

const ofMethods = usual(
  {},
  kind(
    isRecord,
    'must be an object that maps the name of a method to what the method stores for the client.',
  ),
)

export const credentialsOf: Field<Readonly<Record<string, Json>>, Offer> = (given, at, name) => {
  const credentials = new Map<string, Json>()
  for (const [method, value] of Object.entries(ofMethods(given, at, name))) {
    // A database has null for an entry without a value.
    if (value === null) continue
    const [copy, message] = readOffered(method, value, at.context.authenticationMethods)
    if (message !== undefined) at.wrong(`${name}.${method}`, message)
    credentials.set(method, copy)
  }
  return Object.freeze(Object.assign(Object.create(null), Object.fromEntries(credentials)))
}

function readOffered(
  name: string,
  value: unknown,
  methods: readonly AuthenticationMethodDescription[] | undefined,
): readonly [Json, string | undefined] {
  if (methods === undefined) return readOne(value, { name })
  const method = methods.find((offered) => offered.name === name)
  return method === undefined ? [null, notOffered(name, methods)] : readOne(value, method)
}

/** A copy that the host cannot change later, and the mistake. */
function readOne(
  value: unknown,
  method: AuthenticationMethodDescription,
): readonly [Json, string | undefined] {
  const copy = jsonCopy(value)
  if (copy === undefined) return [null, 'must be a JSON value.']
  // RFC 6749 2.3: an empty credential proves nothing.
  if (isEmpty(copy)) return [copy, 'is empty, and so proves nothing; leave it out.']
  try {
    return [copy, method.mistakeIn?.(copy)]
  } catch {
    return [copy, `must be what the method ${method.name} can read.`]
  }
}

function notOffered(name: string, methods: readonly AuthenticationMethodDescription[]): string {
  if (builtInMethods.includes(name)) return 'belongs in client_secret_hashes, as a digest.'
  const offered = methods.map((method) => method.name).join(', ')
  return `is not a method with an entry in credentials; this server has ${offered || 'none'}.${cureForOffer(name)}`
}

const jsonCopy = (value: unknown): Json | undefined =>
  isJson(value) ? JSON.parse(JSON.stringify(value)) : undefined

const isEmpty = (value: Json): boolean =>
  value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
