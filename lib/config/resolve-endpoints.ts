import { wellKnownBelowIssuer } from '../endpoints/server-metadata'
import type { OptionsReader } from '../primitives/options-reader'
import { isAbsentOr, isBoolean, isList, isRecord, isText } from '../primitives/values'
import type { Endpoint } from '../protocol/endpoint'
import type { PageEndpoint } from '../doors/page-endpoint'
import { isExtensionMetadata } from '../protocol/extension-metadata'
import { isErrorStatus } from '../protocol/oauth-error'
import { hasUriCharacters } from '../protocol/uri'
import type { ServerSettings } from './settings'

/** Paths and names in use, each with its user: no two endpoints may share one. */
export interface TakenByEndpoints {
  readonly paths: Map<string, string>
  readonly names: Map<string, string>
}

export function usedByEndpoints(): TakenByEndpoints {
  return {
    paths: new Map(wellKnownBelowIssuer.map((path) => [path, 'the path of the metadata'])),
    names: new Map(builtInEndpoints.map((name) => [name, 'the suite'])),
  }
}

export function resolveEndpoints(
  reading: OptionsReader,
  sources: readonly OptionsReader[],
  taken: TakenByEndpoints,
): Pick<
  ServerSettings,
  'authorizationPath' | 'tokenPath' | 'revocationPath' | 'introspectionPath' | 'endpoints' | 'pages'
> {
  const paths = reading.group('paths', (fields) => ({
    authorizationPath: takePath(fields, 'authorization', '/authorize', taken),
    tokenPath: takePath(fields, 'token', '/token', taken),
    revocationPath: takePath(fields, 'revocation', '/revoke', taken),
    introspectionPath: takePath(fields, 'introspection', '/introspect', taken),
  }))
  const rows = sources.flatMap((source) => resolveRows(source, taken))
  return {
    ...paths,
    endpoints: Object.freeze(rows.filter((row): row is Endpoint => !isPage(row))),
    pages: Object.freeze(rows.filter(isPage)),
  }
}

export function furtherPaths(
  taken: TakenByEndpoints,
  names: Readonly<Record<string, string>>,
): (fields: OptionsReader, key: string, fallback: string) => string {
  return (fields, key, fallback) => {
    const chosen = takePath(fields, key, fallback, taken)
    const other = taken.names.get(names[key] ?? '')
    if (other !== undefined)
      fields.wrong(key, `belongs to the endpoint ${names[key]}, whose name ${other} has.`)
    return chosen
  }
}

function takePath(
  reading: OptionsReader,
  key: string,
  fallback: string,
  { paths }: TakenByEndpoints,
): string {
  const chosen = reading.optional(key, fallback, isPath, pathMessage)
  const other = paths.get(chosen)
  if (other === undefined) paths.set(chosen, reading.at(key))
  else reading.wrong(key, `must differ from ${other}.`)
  return chosen
}

const pathMessage =
  "must be a path such as '/token', as a URL contains it: without query, fragment, '..' and characters that a URL encodes."

// Clients use the path as a URL parser rewrites it: no request would match a path that the parser changes.
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

function resolveRows(reading: OptionsReader, taken: TakenByEndpoints): readonly (Endpoint | PageEndpoint)[] {
  const given = reading.optional<readonly unknown[]>('endpoints', [], isList, 'must be a list of endpoints.')
  for (const [index, endpoint] of given.entries()) {
    const at = `endpoints[${index}]`
    const wrong = (field: string, message: string) => reading.wrong(`${at}${field}`, message)
    if (isRecord(endpoint))
      (endpoint['kind'] === undefined ? checkEndpoint : checkPage)(endpoint, taken, reading.at(at), wrong)
    else wrong('', 'must be an endpoint: name, path and handle, optionally method and others.')
  }
  return given.filter(isEndpoint)
}

type Wrong = (field: string, message: string) => void

function checkEndpoint(
  endpoint: Readonly<Record<string, unknown>>,
  taken: TakenByEndpoints,
  at: string,
  wrong: Wrong,
): void {
  const { kind: _kind, name, path, method = 'POST', body, listed, ...described } = endpoint
  const {
    clientAuthentication,
    errorStatus,
    cors,
    duringMaintenance,
    metadata,
    usesUpLast,
    handle,
    ...others
  } = described
  const listedMethods: readonly unknown[] = isList(method) ? method : [method]
  takeNameAndPath(name, path, taken, at, wrong)
  if (!areMethods(listedMethods)) wrong('.method', 'must be GET, POST, PUT or DELETE, or a list of these.')
  if (!bodies.has(body)) wrong('.body', 'must be form or json.')
  else if (body !== undefined && !listedMethods.some((each) => each === 'POST' || each === 'PUT'))
    wrong('.body', 'must be omitted: GET and DELETE have no body.')
  if (!isAbsentOr(isBoolean, listed)) wrong('.listed', 'must be true or false.')
  if (!authentications.has(clientAuthentication))
    wrong('.clientAuthentication', 'must be required, confidential, optional or none.')
  if (!isAbsentOr(areErrorStatuses, errorStatus))
    wrong('.errorStatus', 'must be an object that maps error codes to statuses, 400 to 599.')
  if (!isAbsentOr(isBoolean, cors))
    wrong('.cors', 'must be true or false: the option cors of the server names the origins.')
  for (const [key, value] of Object.entries({ duringMaintenance, usesUpLast }))
    if (!isAbsentOr(isBoolean, value)) wrong(`.${key}`, 'must be true or false.')
  if (!isAbsentOr(isExtensionMetadata, metadata))
    wrong('.metadata', 'must be an object of texts, lists of texts and booleans.')
  if (typeof handle !== 'function') wrong('.handle', 'must be a function.')
  for (const unknown of Object.keys(others)) wrong(`.${unknown}`, 'is not known here.')
}

function checkPage(
  page: Readonly<Record<string, unknown>>,
  taken: TakenByEndpoints,
  at: string,
  wrong: Wrong,
): void {
  const {
    kind,
    name,
    path,
    method = ['GET', 'POST'],
    login,
    listed,
    fromOtherSites,
    json,
    handle,
    ...others
  } = page
  const listedMethods: readonly unknown[] = isList(method) ? method : [method]
  if (kind !== 'page') wrong('.kind', "must be 'page', or omitted for an endpoint that responds with JSON.")
  takeNameAndPath(name, path, taken, at, wrong)
  if (!areMethods(listedMethods) || listedMethods.some((each) => each !== 'GET' && each !== 'POST'))
    wrong('.method', 'must be GET or POST, or a list of both.')
  if (login !== undefined && login !== 'required' && login !== 'optional')
    wrong('.login', 'must be required or optional.')
  for (const [key, value] of Object.entries({ listed, fromOtherSites, json }))
    if (!isAbsentOr(isBoolean, value)) wrong(`.${key}`, 'must be true or false.')
  if (typeof handle !== 'function') wrong('.handle', 'must be a function.')
  for (const unknown of Object.keys(others)) wrong(`.${unknown}`, 'is not known here.')
}

function takeNameAndPath(
  name: unknown,
  path: unknown,
  { names, paths }: TakenByEndpoints,
  at: string,
  wrong: Wrong,
): void {
  if (!isText(name) || !endpointName.test(name))
    wrong('.name', 'must be lower-case letters, digits and _, such as device_authorization.')
  else if (names.has(name)) wrong('.name', `is "${name}", which another endpoint has already.`)
  else names.set(name, at)
  const other = isPath(path) ? paths.get(path) : undefined
  if (!isPath(path)) wrong('.path', pathMessage)
  else if (other === undefined) paths.set(path, `${at}.path`)
  else wrong('.path', `must differ from ${other}.`)
}

const areMethods = (given: readonly unknown[]) =>
  given.length > 0 && new Set(given).size === given.length && given.every((each) => methods.has(each))

const areErrorStatuses = (value: unknown) => isRecord(value) && Object.values(value).every(isErrorStatus)
// `handle` is enough here: any other mistake ends the construction.
const isEndpoint = (value: unknown): value is Endpoint | PageEndpoint =>
  isRecord(value) && typeof value['handle'] === 'function'
const isPage = (row: Endpoint | PageEndpoint): row is PageEndpoint => row.kind === 'page'
