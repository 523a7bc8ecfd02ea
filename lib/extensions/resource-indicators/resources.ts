import { aListOf, aText, aTextThat } from '../../primitives/fields'
import {
  type Field,
  type Fields,
  group,
  kind,
  needed,
  optional,
  type Read,
  usual,
} from '../../primitives/schema'
import { isList, isRecord, isText, isTexts, isWhole } from '../../primitives/values'
import { covers, distinct, parseScope, type Scope } from '../../protocol/scope'
import { hasUserinfo, isAbsoluteUri, isWebPage, namesHost, webPageExpectation } from '../../protocol/uri'

/** Options of one protected resource (RFC 8707), under its URI. */
export interface ResourceOptions {
  /** The scopes that its tokens may have, at least one. */
  readonly scopes: readonly string[]
  /**
   * The longest lifetime of an access token; for several resources, the shortest. Default, and at most:
   * `lifetimes.accessToken`.
   */
  readonly accessTokenLifetime?: number
  /**
   * A format of a plug-in, such as `at+jwt` of `jwtAccessTokens()`, or `opaque`. A request for resources of
   * two formats is refused. Default: the format of the server.
   */
  readonly accessTokenFormat?: string
  /** The name on the consent page. Default: the URI alone. */
  readonly name?: string
  /** The URL of a page for developers. */
  readonly documentation?: string
}

export interface Resource extends Partial<Read<ReturnType<typeof fieldsOfResource>>> {
  readonly uri: string
  readonly scopes: Scope
}

export class Resources {
  private readonly byUri: ReadonlyMap<string, Resource>

  constructor(
    readonly all: readonly Resource[],
    /** Undefined for several without a default. */
    readonly defaultResource: Resource | undefined,
    /** For a request that names no resource, besides, by their scopes. */
    readonly ofPlugins: readonly Resource[] = [],
  ) {
    this.byUri = new Map([...ofPlugins, ...all].map((resource) => [comparable(resource.uri), resource]))
  }

  find(uri: string): Resource | undefined {
    return this.byUri.get(comparable(uri))
  }

  among(uris: readonly string[]): readonly Resource[] {
    const found = new Set(uris.map((uri) => this.find(uri)))
    return [...this.all, ...this.ofPlugins].filter((resource) => found.has(resource))
  }

  /** Resources as the option writes them and in its order, then other names. */
  targetsIn(names: readonly string[]): readonly string[] {
    const others = names.filter((name) => this.find(name) === undefined)
    return [...this.among(names).map(({ uri }) => uri), ...new Set(others)]
  }
}

const authorityGrammar = /^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?)([^/?#@]*)(\/?)(.*)$/is
const schemeGrammar = /^[a-z][a-z0-9+.-]*:/i

/** RFC 3986 6.2.2.1 and 6.2.3, but for default ports and the case of percent triplets. */
function comparable(uri: string): string {
  const [, scheme = '', host = '', slash = '', rest = ''] = authorityGrammar.exec(uri) ?? []
  if (scheme === '') return uri.replace(schemeGrammar, (found) => found.toLowerCase())
  const path = slash === '' && (rest === '' || rest.startsWith('?')) ? '/' : slash
  const at = scheme.indexOf('//')
  return scheme.slice(0, at).toLowerCase() + scheme.slice(at) + host.toLowerCase() + path + rest
}

/** RFC 8707 2. */
export const isResourceUri = (uri: string): boolean => isAbsoluteUri(uri) && !uri.includes('#')

/** @param longest of access tokens, in seconds. */
export function resourcesOf(known: Scope | undefined, longest: number): Field<Resources | undefined> {
  const resource = group(fieldsOfResource(known, longest))
  return (given, at, name) => {
    const table = givenTable(given, at, name)
    const chosen = at.field('defaultResource', optional(aTextThat(oneOfResources)))
    if (table === undefined) {
      if (given === undefined && chosen !== undefined)
        at.wrong('defaultResource', 'needs the option resources.')
      return undefined
    }
    const all = Object.entries(table).map(([uri, options]): Resource => {
      const path = `${name}["${uri}"]`
      requireResourceUri(uri, (message) => at.wrong(path, message))
      return Object.freeze({ uri, ...resource(options, at, path) })
    })
    const first = new Resources(all.toReversed(), undefined)
    for (const twin of all.filter((each) => first.find(each.uri) !== each))
      at.wrong(
        `${name}["${twin.uri}"]`,
        'names the same resource as another key: letter case of the host and an empty path do not count.',
      )
    const [only, second] = all
    const found = chosen === undefined ? undefined : first.find(chosen)
    if (chosen !== undefined && found === undefined) at.wrong('defaultResource', oneOfResources)
    return new Resources(all, found ?? (second === undefined ? only : undefined))
  }
}

const oneOfResources = 'must be one of resources.'

const givenTable = optional(
  kind(
    (value): value is Readonly<Record<string, unknown>> => isRecord(value) && Object.keys(value).length > 0,
    "must be an object of URIs and their scopes, such as { 'https://api.example.com/mcp': { scopes: ['notes:read'] } }.",
  ),
)

function requireResourceUri(uri: string, wrong: (message: string) => void): void {
  if (!isResourceUri(uri))
    wrong('must be an absolute URI without a fragment, such as https://api.example.com/mcp.')
  else if (/^https?:/i.test(uri) && (!namesHost(uri) || hasUserinfo(new URL(uri))))
    wrong('must name its host after //, without a user name and password.')
}

const fieldsOfResource = (known: Scope | undefined, longest: number) =>
  ({
    scopes: scopesAmong(known),
    accessTokenLifetime: optional(
      kind(
        isWhole(1, longest),
        `must be whole seconds, 1 to ${longest}, lifetimes.accessToken of the server.`,
      ),
    ),
    accessTokenFormat: optional(
      aTextThat('must be the name of an access token format, such as at+jwt, or opaque.'),
    ),
    name: optional(aText),
    documentation: optional(kind(isWebPage, webPageExpectation)),
  }) satisfies Fields<ResourceOptions>

const scopesAmong =
  (known: Scope | undefined): Field<Scope> =>
  (given, at, name) => {
    const scopes = distinct(needed([], someScopes)(given, at, name))
    if (known !== undefined && !covers(known, scopes))
      at.wrong(name, `must hold scopes of this server: ${known.join(', ')}.`)
    return scopes
  }

const someScopes = aListOf(
  (token): token is string => isText(token) && parseScope(token)?.length === 1,
  "must be a list of scopes, such as ['notes:read'], at least one.",
)

export const pluginResources: Field<readonly Resource[]> = (given, at, name) =>
  listOfPlugin(given, at, name).map(({ uri, scopes }) => ({ uri, scopes }))

const listOfPlugin = usual(
  [],
  kind(
    (value): value is readonly Resource[] => isList(value) && value.every(isResource),
    'must be a list of resources, each with uri and scopes.',
  ),
)

const isResource = (value: unknown): value is Resource =>
  isRecord(value) && isText(value['uri']) && isResourceUri(value['uri']) && isTexts(value['scopes'])

/** Without a URI, the default resource. */
export const aResourceOf =
  (resources: Resources): Field<Resource | undefined> =>
  (given, at, name) => {
    const found =
      given === undefined ? resources.defaultResource : isText(given) ? resources.find(given) : undefined
    const lack = given === undefined ? 'is missing, and there is no defaultResource: it ' : ''
    if (found === undefined)
      at.wrong(name, `${lack}must be one of ${resources.all.map(({ uri }) => uri).join(', ')}.`)
    return found
  }
