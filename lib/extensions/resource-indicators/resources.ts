import { aText } from '../../primitives/fields'
import { type Field, kind, optional } from '../../primitives/schema'
import { OptionsReader } from '../../primitives/options-reader'
import { isRecord, isText, isTexts, isWhole } from '../../primitives/values'
import { covers, distinct, parseScope, type Scope } from '../../protocol/scope'
import { hasUserinfo, isAbsoluteUri, isWebPage, namesHost, webPageExpectation } from '../../protocol/uri'

/** Options of one protected resource (RFC 8707), under its URI. */
export interface ResourceOptions {
  /** The scopes that its tokens may have, at least one: scopes of the server. */
  readonly scopes: readonly string[]
  /**
   * The longest lifetime of an access token, in seconds; for several resources, the shortest counts. Default,
   * and at most: `lifetimes.accessToken` of the server.
   */
  readonly accessTokenLifetime?: number
  /**
   * One of the option `accessTokenFormats`, such as `at+jwt` of `jwtAccessTokens()`, or `opaque`. A request
   * for resources of two formats is refused. Default: the format of the server.
   */
  readonly accessTokenFormat?: string
  /** The name on the consent page. Default: the URI alone. */
  readonly name?: string
  /** The URL of a page for developers. Default none. */
  readonly documentation?: string
}

export interface Resource {
  /** As the host wrote it, for records, tokens and documents. */
  readonly uri: string
  readonly scopes: Scope
  /** Seconds; undefined for the lifetime of the server. */
  readonly accessTokenLifetime: number | undefined
  readonly accessTokenFormat: string | undefined
  readonly name: string | undefined
  readonly documentation: string | undefined
}

export function bareResource(uri: string, scopes: Scope = []): Resource {
  return {
    uri,
    scopes,
    accessTokenLifetime: undefined,
    accessTokenFormat: undefined,
    name: undefined,
    documentation: undefined,
  }
}

export class Resources {
  private readonly byUri: ReadonlyMap<string, Resource>

  constructor(
    readonly all: readonly Resource[],
    /** For a request that names none; undefined if there are several and no default. */
    readonly defaultResource: Resource | undefined,
    /** A request that names no resource gets them besides, by their scopes. */
    readonly ofPlugIns: readonly Resource[] = [],
  ) {
    this.byUri = new Map([...ofPlugIns, ...all].map((resource) => [comparable(resource.uri), resource]))
  }

  find(uri: string): Resource | undefined {
    return this.byUri.get(comparable(uri))
  }

  among(uris: readonly string[]): readonly Resource[] {
    const found = new Set(uris.map((uri) => this.find(uri)))
    return [...this.all, ...this.ofPlugIns].filter((resource) => found.has(resource))
  }

  /** Each once: resources as the option writes them and in its order, then other names. */
  targetsIn(names: readonly string[]): readonly string[] {
    const others = names.filter((name) => this.find(name) === undefined)
    return [...this.among(names).map(({ uri }) => uri), ...new Set(others)]
  }
}

const authorityGrammar = /^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?)([^/?#@]*)(\/?)(.*)$/is
const schemeGrammar = /^[a-z][a-z0-9+.-]*:/i

/**
 * RFC 3986 6.2.2.1 and 6.2.3: scheme and host without letter case, an empty path as `/`. All else counts
 * letter by letter, even a default port and the case of percent triplets.
 */
function comparable(uri: string): string {
  const [, scheme = '', host = '', slash = '', rest = ''] = authorityGrammar.exec(uri) ?? []
  if (scheme === '') return uri.replace(schemeGrammar, (found) => found.toLowerCase())
  const path = slash === '' && (rest === '' || rest.startsWith('?')) ? '/' : slash
  const at = scheme.indexOf('//')
  return scheme.slice(0, at).toLowerCase() + scheme.slice(at) + host.toLowerCase() + path + rest
}

/** RFC 8707 2: an absolute URI without a fragment. */
export const isResourceUri = (uri: string): boolean => isAbsoluteUri(uri) && !uri.includes('#')

const resourcesOption = 'resources'
const defaultOption = 'defaultResource'

export function readResources(
  reading: OptionsReader,
  known: Scope | undefined,
  longest: number,
): Resources | undefined {
  const cure =
    "must be an object of URIs and their scopes, such as { 'https://api.example.com/mcp': { scopes: ['notes:read'] } }."
  const given = reading.optional<Readonly<Record<string, unknown>> | undefined>(
    resourcesOption,
    undefined,
    isTable,
    cure,
  )
  const chosen = reading.field(defaultOption, optional(kind(isText, 'must be one of resources.')))
  if (given === undefined) {
    if (chosen !== undefined && reading.take(resourcesOption) === undefined)
      reading.wrong(defaultOption, 'needs the option resources.')
    return undefined
  }
  const resources = Object.entries(given).map(([uri, options]) =>
    readResource(
      uri,
      new OptionsReader(options, reading.at(`${resourcesOption}["${uri}"]`), reading.issues),
      {
        known,
        longest,
      },
    ),
  )
  refuseTwins(reading, resources)
  const [only, second] = resources
  const found = chosen === undefined ? undefined : new Resources(resources, undefined).find(chosen)
  if (chosen !== undefined && found === undefined) reading.wrong(defaultOption, 'must be one of resources.')
  return new Resources(resources, found ?? (second === undefined ? only : undefined))
}

interface Bounds {
  readonly known: Scope | undefined
  readonly longest: number
}

function readResource(uri: string, reading: OptionsReader, { known, longest }: Bounds): Resource {
  const wrong = (message: string) => reading.issues.push({ path: reading.at('').slice(0, -1), message })
  if (!isResourceUri(uri))
    wrong('must be an absolute URI without a fragment, such as https://api.example.com/mcp.')
  else if (/^https?:/i.test(uri) && (!namesHost(uri) || hasUserinfo(new URL(uri))))
    wrong('must name its host after //, without a user name and password.')
  const scopes = distinct(
    reading.required(
      'scopes',
      [],
      isScopes,
      "must be a list of scopes, such as ['notes:read'], at least one.",
    ),
  )
  if (known !== undefined && !covers(known, scopes))
    reading.wrong('scopes', `must hold scopes of this server: ${known.join(', ')}.`)
  const resource = {
    uri,
    scopes,
    accessTokenLifetime: reading.optional<number | undefined>(
      'accessTokenLifetime',
      undefined,
      isWhole(1, longest),
      `must be whole seconds, 1 to ${longest}, lifetimes.accessToken of the server.`,
    ),
    accessTokenFormat: reading.field(
      'accessTokenFormat',
      optional(kind(isText, 'must be the name of an access token format, such as at+jwt, or opaque.')),
    ),
    name: reading.field('name', optional(aText)),
    documentation: reading.field('documentation', optional(kind(isWebPage, webPageExpectation))),
  }
  reading.refuseUnknown()
  return Object.freeze(resource)
}

// They would be one resource with two meanings.
function refuseTwins(reading: OptionsReader, resources: readonly Resource[]): void {
  const seen = new Set<string>()
  for (const { uri } of resources) {
    const key = comparable(uri)
    if (seen.has(key))
      reading.wrong(
        `${resourcesOption}["${uri}"]`,
        'names the same resource as another key: letter case of the host and an empty path do not count.',
      )
    seen.add(key)
  }
}

export function withPlugInResources(resources: Resources, ofPlugIns: readonly Resource[]): Resources {
  return ofPlugIns.length === 0
    ? resources
    : new Resources(resources.all, resources.defaultResource, ofPlugIns)
}

export function readPlugInResources(part: OptionsReader): readonly Resource[] {
  const given = part.optional<readonly PlugInResource[]>(
    resourcesOption,
    [],
    arePlugInResources,
    'must be a list of resources, each with uri and scopes.',
  )
  return given.map(({ uri, scopes }) => bareResource(uri, scopes))
}

interface PlugInResource {
  readonly uri: string
  readonly scopes: readonly string[]
}

const arePlugInResources = (value: unknown): value is readonly PlugInResource[] =>
  Array.isArray(value) &&
  value.every(
    (each) => isRecord(each) && isText(each['uri']) && isResourceUri(each['uri']) && isTexts(each['scopes']),
  )
const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isRecord(value) && Object.keys(value).length > 0
const isScopes = (value: unknown): value is readonly string[] =>
  isTexts(value) && value.length > 0 && value.every((token) => parseScope(token)?.length === 1)

/** Without a URI, the default resource. */
export const aResourceOf =
  (resources: Resources): Field<Resource | undefined> =>
  (given, at, name) => {
    const found =
      given === undefined ? resources.defaultResource : isText(given) ? resources.find(given) : undefined
    // A guess would accept tokens for something else.
    const lack = given === undefined ? 'is missing, and there is no defaultResource: it ' : ''
    if (found === undefined)
      at.wrong(name, `${lack}must be one of ${resources.all.map(({ uri }) => uri).join(', ')}.`)
    return found
  }
