import { extensionMetadata } from '../protocol/extension-metadata'
import { aCall, oneOf, yesOrNo } from '../primitives/fields'
import {
  exactShape,
  type Field,
  type Fields,
  group,
  kind,
  optional,
  refusal,
  rows,
} from '../primitives/schema'
import { wellKnownBelowIssuer } from '../endpoints/server-urls'
import { isBoolean, isRecord, isText } from '../primitives/values'
import type { Endpoint } from '../protocol/endpoint'
import type { PageEndpoint } from '../doors/page-endpoint'
import { isErrorStatus } from '../protocol/oauth-error'
import { hasUriCharacters } from '../protocol/uri'
import type { Sources } from './doors'
import type { PathOptions } from './options'

/** Each with its user. */
type TakenByEndpoints = ReturnType<typeof usedByEndpoints>

export function usedByEndpoints() {
  return {
    paths: new Map(wellKnownBelowIssuer.map((path) => [path, 'the path of the metadata'])),
    names: new Map(builtInEndpoints.map((name) => [name, 'the suite'])),
  }
}

export function resolveEndpoints(sources: Sources, taken: TakenByEndpoints) {
  const mounted = sources.flatMap(({ at }) => at.with(taken).field('endpoints', rows(row, 'endpoints')))
  return {
    endpoints: Object.freeze(mounted.filter((each): each is Endpoint => !isPage(each))),
    pages: Object.freeze(mounted.filter(isPage)),
  }
}

export const furtherPath =
  (taken: TakenByEndpoints, endpoint: string, fallback: string): Field<string> =>
  (given, at, name) => {
    const other = taken.names.get(endpoint)
    if (other !== undefined) at.wrong(name, `belongs to the endpoint ${endpoint}, whose name ${other} has.`)
    return pathOf(fallback)(given, at.with(taken), name)
  }

const pathMessage =
  "must be a path such as '/token', as a URL contains it: without query, fragment, '..' and characters that a URL encodes."

// No request would match a path that a URL parser changes.
const isPath = (value: unknown): value is string =>
  isText(value) &&
  value !== '/' &&
  hasUriCharacters(value) &&
  URL.canParse(value, 'https://host') &&
  new URL(value, 'https://host').pathname === value

const endpointName = /^[a-z][a-z0-9_]*$/
const builtInEndpoints = ['authorization', 'token', 'revocation', 'introspection']

const rowName: Field<unknown, TakenByEndpoints> = (given, at, name) => {
  const { names } = at.context
  if (!isText(given) || !endpointName.test(given))
    at.wrong(name, 'must be lower-case letters, digits and _, such as device_authorization.')
  else if (names.has(given)) at.wrong(name, `is "${given}", which another endpoint has already.`)
  else names.set(given, at.path)
}

const rowPath: Field<string | undefined, TakenByEndpoints> = (given, at, name) => {
  const { paths } = at.context
  const path = kind(isPath, pathMessage)(given, at, name)
  const other = path === undefined ? undefined : paths.get(path)
  if (other !== undefined) at.wrong(name, `must differ from ${other}.`)
  else if (path !== undefined) paths.set(path, at.at(name))
  return path
}

const pathOf =
  (fallback: string): Field<string, TakenByEndpoints> =>
  (given, at, name) =>
    rowPath(given === undefined ? fallback : given, at, name) ?? fallback

export const pathsOption = group({
  authorization: pathOf('/authorize'),
  token: pathOf('/token'),
  revocation: pathOf('/revoke'),
  introspection: pathOf('/introspect'),
} satisfies Fields<PathOptions, TakenByEndpoints>)

const methodsAmong = (...methods: readonly unknown[]) =>
  optional(
    kind(
      (value) => {
        const listed: readonly unknown[] = [value].flat()
        return (
          listed.length > 0 &&
          new Set(listed).size === listed.length &&
          listed.every((each) => methods.includes(each))
        )
      },
      `must be one of ${methods.join(', ')}, or a list of these.`,
    ),
  )

const endpointShape = exactShape<Endpoint, TakenByEndpoints>({
  kind: refusal("must be 'page', or omitted for an endpoint that responds with JSON."),
  login: refusal('is for pages.'),
  name: rowName,
  path: rowPath,
  method: methodsAmong('GET', 'POST', 'PUT', 'DELETE'),
  body: (given, at, name) => {
    optional(oneOf('form', 'json'))(given, at, name)
    const { method = 'POST' } = at.source
    if (given !== undefined && ![method].flat().some((each) => each === 'POST' || each === 'PUT'))
      at.wrong(name, 'must be omitted: GET and DELETE have no body.')
  },
  listed: optional(yesOrNo),
  clientAuthentication: optional(oneOf('required', 'confidential', 'optional', 'none')),
  errorStatus: optional(
    kind(
      (value) => isRecord(value) && Object.values(value).every(isErrorStatus),
      'must be an object that maps error codes to statuses, 400 to 599.',
    ),
  ),
  cors: optional(kind(isBoolean, 'must be true or false: the option cors of the server names the origins.')),
  duringMaintenance: optional(yesOrNo),
  metadata: optional(extensionMetadata),
  usesUpLast: optional(yesOrNo),
  handle: aCall(),
})

const pageShape = exactShape<PageEndpoint, TakenByEndpoints>({
  clientAuthentication: refusal('is for endpoints without login.'),
  kind: kind((value) => value === 'page', "must be 'page'."),
  name: rowName,
  path: rowPath,
  method: methodsAmong('GET', 'POST'),
  login: optional(oneOf('required', 'optional')),
  listed: optional(yesOrNo),
  fromOtherSites: optional(yesOrNo),
  json: optional(yesOrNo),
  handle: aCall(),
})

const row: Field<Endpoint | PageEndpoint | undefined, TakenByEndpoints> = (given, at, name) =>
  isRecord(given) && given['kind'] === 'page' ? pageShape(given, at, name) : endpointShape(given, at, name)

const isPage = (endpoint: Endpoint | PageEndpoint): endpoint is PageEndpoint => endpoint.kind === 'page'
