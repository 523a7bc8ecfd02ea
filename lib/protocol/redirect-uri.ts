import { aFlag } from '../primitives/fields'
import type { Client } from './client'
import { type Field, kind, optional, type Place, usual } from '../primitives/schema'
import { isRecord, isTexts } from '../primitives/values'
import { formOf, isTooLong, longestValues } from './parameters'
import { hasUriCharacters, isLoopback, namesHost, protocolOf } from './uri'

// A browser runs or opens these.
const forbiddenSchemes = new Set(
  'javascript: data: vbscript: blob: file: filesystem: about: view-source:'.split(' '),
)

/** RFC 6749 3.1.2: absolute, no fragment, no response parameters in its query. Returns the end of a sentence. */
export function redirectUriFault(
  text: string,
  { insecure = false }: { readonly insecure?: boolean } = {},
): string | undefined {
  if (!hasUriCharacters(text)) return 'holds characters that a URI cannot hold; percent-encode them'
  if (text.includes('#')) return 'must not have a fragment; remove the # and what follows it'
  const question = text.indexOf('?')
  if (question >= 0 && holdsResponseParameter(text.slice(question + 1)))
    return 'must not have a query with a name that belongs to the answer, such as code, state or scope; rename it'
  if (!URL.canParse(text))
    return text.includes('*') ? wildcard : 'must be an absolute URI, such as https://client.example/callback'
  const url = new URL(text)
  if (forbiddenSchemes.has(url.protocol)) return `must not use the scheme ${url.protocol}`
  if (/^[^:]*:\/\/[^/?]*@/.test(text)) return 'must not hold a user name or password'
  // RFC 6749 3.1.2.1: the code crosses the network.
  if (!insecure && isInsecure(text))
    return 'must use https unless its host is loopback or the client has insecure_redirect_uris'
  if (/^https?:$/.test(url.protocol) && !namesHost(text)) return 'must name its host after //'
  return undefined
}

const wildcard =
  'holds a wildcard, but URIs are compared exactly: register each URI; for any port of loopback, http://127.0.0.1/callback with loopback_redirect_uris'

/** Why no browser could ever bring a response here. */
export function redirectUriLack(text: string): string | undefined {
  // RFC 9700 2.1: no pattern matches.
  if (text.includes('*')) return `${wildcard}.`
  return protocolOf(text) === 'urn:'
    ? 'is one that no browser opens: register http://127.0.0.1/callback with loopback_redirect_uris, as native apps do (RFC 8252 7.3).'
    : undefined
}

export const isInsecure = (uri: string): boolean =>
  protocolOf(uri) === 'http:' && !isLoopback(new URL(uri).hostname)

/** RFC 6749 3.1.2: keeps every byte. `URL` would normalise, and a client may compare. */
export function appendToQuery(redirectUri: string, parameters: Readonly<Record<string, string>>): string {
  const question = redirectUri.indexOf('?')
  const open = question === redirectUri.length - 1 || redirectUri.endsWith('&')
  const separator = question < 0 ? '?' : open ? '' : '&'
  return redirectUri + separator + formOf(parameters)
}

type Registered = Pick<
  Client,
  'redirect_uris' | 'loopback_redirect_uris' | 'dynamic_redirect_query' | 'metadataDocument'
>

/**
 * RFC 6749 3.1.2.3, RFC 3986 6.2.1: simple string comparison. Only port and query may differ, for a client that opted
 * in.
 */
export function isRegisteredRedirectUri(client: Registered, sent: string): boolean {
  const { redirect_uris, dynamic_redirect_query } = client
  const fixed = dynamic_redirect_query ? withoutDynamicQuery(sent) : sent
  if (fixed === undefined) return false
  if (redirect_uris.includes(fixed)) return true
  const portless = withoutAnyPort(client, fixed)
  return portless !== undefined && redirect_uris.some((uri) => withoutAnyPort(client, uri) === portless)
}

/** Undefined if the port counts. */
export function withoutAnyPort(
  { loopback_redirect_uris, metadataDocument }: Pick<Client, 'loopback_redirect_uris' | 'metadataDocument'>,
  uri: string,
): string | undefined {
  const loopback = loopback_redirect_uris ? loopbackUri(uri) : undefined
  // Deviates from RFC 8252 8.3, for documents that list http://localhost.
  return loopback ?? (metadataDocument?.localhostRedirects === true ? localhostUri(uri) : undefined)
}

/** RFC 8252 7.3: any port. RFC 8252 8.3: not `localhost`, which may resolve to another address. */
export const loopbackUri = (uri: string): string | undefined =>
  withoutPort(/^http:\/\/(127\.0\.0\.1|\[::1\])(?::([1-9]\d{0,4}))?(\/.*)$/.exec(uri))

const localhostUri = (uri: string): string | undefined =>
  withoutPort(/^http:\/\/(localhost)(?::([1-9]\d{0,4}))?(\/.*)$/.exec(uri))

function withoutPort(parts: RegExpExecArray | null): string | undefined {
  const [, host, port = '1', path] = parts ?? []
  if (host === undefined || path === undefined || Number(port) > 65_535) return undefined
  return `http://${host}${path}`
}

// RFC 6749 3.1.2.2: only the query may vary. It goes to the end: this also finds a fragment.
function withoutDynamicQuery(uri: string): string | undefined {
  const question = uri.indexOf('?')
  if (question < 0) return uri
  const query = uri.slice(question + 1)
  if (query.includes('#') || (query !== '' && !hasUriCharacters(query)) || holdsResponseParameter(query))
    return undefined
  return uri.slice(0, question)
}

/**
 * Which redirection URIs clients may register. `any` includes schemes of apps, such as `com.example.app:/callback` (RFC
 * 8252 7.1), and plain http for a client with `insecure_redirect_uris`. `schemes` allows https, http on loopback, and
 * these schemes of apps, in lower case without colon; any app on a device may claim one (RFC 8252 8.6).
 */
export type RedirectUriRule = 'any' | 'https or loopback' | { readonly schemes: readonly string[] }

const isRedirectUriRule = (value: unknown): value is RedirectUriRule =>
  value === 'any' || value === 'https or loopback' || (isRecord(value) && hasSchemesAlone(value))

const hasSchemesAlone = ({ schemes, ...others }: Readonly<Record<string, unknown>>): boolean =>
  isTexts(schemes) && schemes.length > 0 && schemes.every(isSchemeOfApp) && Object.keys(others).length === 0

const isSchemeOfApp = (scheme: string): boolean =>
  /^(?!https?$)[a-z][a-z0-9+.-]*$/.test(scheme) && !forbiddenSchemes.has(`${scheme}:`)

export const redirectUriRule: Field<RedirectUriRule> = (given, at, name) => {
  const rule = anyRule(given, at, name)
  return typeof rule === 'string' ? rule : Object.freeze({ schemes: Object.freeze([...rule.schemes]) })
}

const anyRule = usual<RedirectUriRule>(
  'any',
  kind(
    isRedirectUriRule,
    "must be 'any', 'https or loopback', or { schemes: ['com.example.app'] } with the schemes of apps in lower case, without colons.",
  ),
)

interface Rule {
  readonly redirectUris?: RedirectUriRule | undefined
}

const noUris: readonly string[] = Object.freeze([])

const someUris =
  <Context>(
    mistakeIn: (uri: string, at: Place<Context>) => string | undefined,
  ): Field<readonly string[] | undefined, Context> =>
  (given, at, name) => {
    const uris = kind(isTexts, 'must be a list of URIs.')(given, at, name)
    for (const [index, uri] of (uris ?? []).entries()) {
      const mistake = mistakeIn(uri, at)
      if (mistake !== undefined) at.wrong(`${name}[${index}]`, `${mistake}.`)
    }
    return uris && Object.freeze([...uris])
  }

export const redirection = {
  redirect_uris: usual(noUris, someUris<Rule>(redirectMistake)),
  loopback_redirect_uris: aFlag(false),
  dynamic_redirect_query: aFlag(false),
  insecure_redirect_uris: aFlag(false),
  // They carry nothing but `state`.
  post_logout_redirect_uris: optional(someUris((uri) => redirectUriFault(uri))),
}

function redirectMistake(
  uri: string,
  { source, context: { redirectUris: rule } }: Place<Rule>,
): string | undefined {
  const fault = redirectUriFault(uri, { insecure: source['insecure_redirect_uris'] === true })
  if (fault !== undefined) return fault
  if (isTooLong('redirect_uri', uri)) return `must be at most ${longestValues.get('redirect_uri')} characters`
  if (isAllowedBy(rule, uri)) return undefined
  return `must use https, or http on a loopback host${ofAdmitted(rule)}: the option redirectUris allows no others`
}

const ofAdmitted = (rule: RedirectUriRule | undefined): string =>
  typeof rule === 'object' ? `, or a scheme of ${rule.schemes.join(', ')}` : ''

/** After {@link redirectUriFault}. */
export function isAllowedBy(rule: RedirectUriRule | undefined, uri: string): boolean {
  if (rule === undefined || rule === 'any') return true
  const scheme = protocolOf(uri)
  if (scheme === 'https:' || scheme === 'http:') return !isInsecure(uri)
  return typeof rule === 'object' && rule.schemes.includes(scheme.slice(0, -1))
}

// RFC 6749 4.1.2, 4.1.2.1 and 4.2.2, RFC 9207. PHP reads a dot, a space and an opening bracket as `_`. Others skip
// space and NUL around a name, and what follows a bracket.
const responseParameter =
  /^[\s\0]*(?:code|state|iss|scope|error(?:[_. [](?:description|uri))?|access[_. []token|token[_. []type|expires[_. []in)[\s\0]*(?:[[\0].*)?$/is

/**
 * RFC 6749 3.1: no parameter twice. A client would take the query's `code` for the server's. Reads names as the most
 * lenient parsers: they split at `;`, fold case, read `code[]` as `code`, and decode overlong UTF-8 (RFC 3629 10).
 */
export function holdsResponseParameter(query: string): boolean {
  // `URLSearchParams` skips a second question mark.
  const pairs = query.replace(/^\?/, '').split(/[&;]/)
  return pairs.some((pair) => responseParameter.test(decoded(pair.split('=', 1).join())))
}

// RFC 3629 3. A lenient parser reads the last seven bits as ASCII.
const overlong =
  /(?:[\xC0\xC1]|\xE0[\x80\x81]|\xF0\x80[\x80\x81]|\xF8\x80{2}[\x80\x81]|\xFC\x80{3}[\x80\x81])[^]/g

function decoded(name: string): string {
  const octets = name
    .replaceAll('+', ' ')
    .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(overlong, (long) => {
      const [high, low] = [long.charCodeAt(long.length - 2), long.charCodeAt(long.length - 1)]
      return String.fromCharCode(((high & 0b1) << 6) | (low & 0b111111))
    })
  return Buffer.from(octets, 'latin1').toString()
}
