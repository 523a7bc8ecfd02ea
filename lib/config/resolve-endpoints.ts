import { wellKnownBelowIssuer } from '../metadata/server-metadata'
import {
  isAbsentOr,
  isBoolean,
  isList,
  isRecord,
  isText,
  type OptionsReader,
} from '../protocol/configuration'
import type { Endpoint } from '../protocol/endpoint'
import { isExtensionMetadata } from '../protocol/extension'
import { hasUriCharacters } from '../protocol/uri'
import type { ServerSettings } from './options'

const defaults = {
  authorizationPath: '/authorize',
  tokenPath: '/token',
  revocationPath: '/revoke',
  introspectionPath: '/introspect',
}

type Paths = Pick<ServerSettings, keyof typeof defaults>

/** The paths that a server uses already, each with what uses it. No two endpoints may have one path. */
export type TakenPaths = Map<string, string>

/** The paths that every server uses. */
export function usedPaths(): TakenPaths {
  return new Map(wellKnownBelowIssuer.map((path) => [path, 'the path of the metadata']))
}

/** Reads the endpoints of a server: the paths of the built-in endpoints, and the endpoints of the host. */
export function resolveEndpoints(
  reading: OptionsReader,
  taken: TakenPaths,
): Pick<ServerSettings, 'endpoints'> & Paths {
  const path = (key: keyof Paths) => takePath(reading, key, defaults[key], taken)
  return {
    authorizationPath: path('authorizationPath'),
    tokenPath: path('tokenPath'),
    revocationPath: path('revocationPath'),
    introspectionPath: path('introspectionPath'),
    endpoints: resolveRows(reading, taken),
  }
}

/**
 * Makes the reader of the paths of further endpoints, which a plug-in adds to those of {@link resolveEndpoints}.
 *
 * @param names the name of each endpoint under the key of its path.
 */
export function furtherPaths(
  taken: TakenPaths,
  endpoints: readonly Endpoint[],
  names: Readonly<Record<string, string>>,
): (fields: OptionsReader, key: string, fallback: string) => string {
  return (fields, key, fallback) => {
    const chosen = takePath(fields, key, fallback, taken)
    const index = endpoints.findIndex(({ name }) => name === names[key])
    if (index >= 0)
      fields.wrong(key, `belongs to the endpoint ${names[key]}, whose name endpoints[${index}] has.`)
    return chosen
  }
}

function takePath(reading: OptionsReader, key: string, fallback: string, taken: TakenPaths): string {
  const chosen = reading.optional(key, fallback, isPath, pathMessage)
  const other = taken.get(chosen)
  if (other === undefined) taken.set(chosen, reading.at(key))
  else reading.wrong(key, `must differ from ${other}.`)
  return chosen
}

const pathMessage =
  "must be a path such as '/token', as a URL contains it: without query, fragment, '..' and characters that a URL encodes."

// Clients use the path as a URL parser rewrites it. No request would match a path that the parser changes.
const isPath = (value: unknown): value is string =>
  isText(value) &&
  value !== '/' &&
  hasUriCharacters(value) &&
  URL.canParse(value, 'https://host') &&
  new URL(value, 'https://host').pathname === value

const endpointName = /^[a-z][a-z0-9_]*$/
const builtInEndpoints = ['authorization', 'token', 'revocation', 'introspection']
const methods = new Set<unknown>(['GET', 'POST', 'PUT', 'DELETE'])
const bodies = new Set<unknown>([undefined, 'form', 'json'])
const authentications = new Set<unknown>([undefined, 'required', 'confidential', 'optional', 'none'])

function resolveRows(reading: OptionsReader, taken: TakenPaths): readonly Endpoint[] {
  const names = new Set(builtInEndpoints)
  const given = reading.optional<readonly unknown[]>('endpoints', [], isList, 'must be a list of endpoints.')
  for (const [index, endpoint] of given.entries()) {
    const at = `endpoints[${index}]`
    const wrong = (field: string, message: string) => reading.wrong(`${at}${field}`, message)
    if (isRecord(endpoint)) checkEndpoint(endpoint, names, taken, at, wrong)
    else wrong('', 'must be an endpoint: name, path and answer, optionally method and others.')
  }
  return Object.freeze(given.filter(isEndpoint))
}

function checkEndpoint(
  endpoint: Readonly<Record<string, unknown>>,
  names: Set<string>,
  taken: TakenPaths,
  at: string,
  wrong: (field: string, message: string) => void,
): void {
  const { name, path, method = 'POST', body, listed, clientAuthentication, errorStatus, ...rest } = endpoint
  const { cors, metadata, answer, ...others } = rest
  const listedMethods: readonly unknown[] = isList(method) ? method : [method]
  if (!isText(name) || !endpointName.test(name))
    wrong('.name', 'must be lower-case letters, digits and _, such as device_authorization.')
  else if (names.has(name)) wrong('.name', `is "${name}", which another endpoint has already.`)
  else names.add(name)
  const other = isPath(path) ? taken.get(path) : undefined
  if (!isPath(path)) wrong('.path', pathMessage)
  else if (other === undefined) taken.set(path, `${at}.path`)
  else wrong('.path', `must differ from ${other}.`)
  if (!areMethods(listedMethods)) wrong('.method', 'must be GET, POST, PUT or DELETE, or a list of these.')
  if (!bodies.has(body)) wrong('.body', 'must be form or json.')
  else if (body !== undefined && !listedMethods.some((each) => each === 'POST' || each === 'PUT'))
    wrong('.body', 'must be omitted: GET and DELETE have no body.')
  if (!isAbsentOr(isBoolean, listed)) wrong('.listed', 'must be true or false.')
  if (!authentications.has(clientAuthentication))
    wrong('.clientAuthentication', 'must be required, confidential, optional or none.')
  if (!isAbsentOr(isErrorStatus, errorStatus))
    wrong('.errorStatus', 'must be an object that maps error codes to statuses, 400 to 599.')
  if (!isAbsentOr(isBoolean, cors))
    wrong('.cors', 'must be true or false: the option cors of the server names the origins.')
  if (!isAbsentOr(isExtensionMetadata, metadata))
    wrong('.metadata', 'must be an object of texts, lists of texts and booleans.')
  if (typeof answer !== 'function') wrong('.answer', 'must be a function.')
  for (const unknown of Object.keys(others)) wrong(`.${unknown}`, 'is not known here.')
}

const areMethods = (given: readonly unknown[]) =>
  given.length > 0 && new Set(given).size === given.length && given.every((each) => methods.has(each))

const isErrorStatus = (value: unknown) =>
  isRecord(value) &&
  Object.values(value).every(
    (status) => Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599,
  )
// A function `answer` is enough here: any other mistake ends the construction.
const isEndpoint = (value: unknown): value is Endpoint =>
  isRecord(value) && typeof value['answer'] === 'function'
