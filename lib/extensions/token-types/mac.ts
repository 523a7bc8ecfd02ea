import { aListOf, someSeconds } from '../../primitives/fields'
import { type Fields, needed, type Read, readOptions, usual } from '../../primitives/schema'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isRecord, isText } from '../../primitives/values'
import { digest, sealText, unsealText } from '../../protocol/credential'
import type { Json } from '../../protocol/json'
import type { Reason } from '../../protocol/refusals'
import type { PresentedToken, ResourceRequest, TokenCheck, TokenType } from '../../protocol/token-type'

/**
 * The token type `mac`: a client gets a key with its access token, and signs each request with it (RFC 6749
 * 7.1, draft-ietf-oauth-v2-http-mac-00 and -01). The signature covers method, request target, host and port,
 * but not the body. A recorded request does not work again.
 *
 * @throws ConfigurationError if an option is wrong.
 */
export function mac(options: MacOptions): {
  readonly name: string
  readonly tokenTypes: readonly TokenType[]
} {
  const rules = readOptions('mac()', fields, options)
  const [algorithm = 'hmac-sha-256'] = rules.algorithms
  const tokenType: TokenType = {
    name: 'mac',
    scheme: 'MAC',
    // The text of the token encrypts the key, and must be short.
    opaque: true,
    issue(accessToken, { now: issuedAt, random }) {
      const key = random(43)
      // The store has only a digest of the access token: it cannot decrypt the key.
      const sealedKey = sealText(key, { credential: accessToken, purpose }, random)
      return {
        properties: { mac_key: key, mac_algorithm: algorithm },
        tokenData: { sealedKey, algorithm, issuedAt },
      }
    },
    read(text) {
      const credentials = parseMacCredentials(text)
      return credentials === undefined ? undefined : presented(credentials, rules)
    },
  }
  return { name: 'mac', tokenTypes: [tokenType] }
}

function presented(credentials: MacCredentials, rules: MacRules): PresentedToken {
  return {
    accessToken: credentials.id,
    async rejectReason(check): Promise<Reason | undefined> {
      const macKey = macKeyOf(check.tokenData, credentials.id)
      const reason = mismatch(credentials, macKey, check, rules)
      if (reason !== undefined) return reason
      // Last: without the key, nobody uses up a nonce of the client.
      const isFirst = await check.useOnce(nonceKey(credentials), rememberedFor(rules))
      return isFirst ? undefined : 'mac_replayed'
    },
  }
}

function mismatch(
  credentials: MacCredentials,
  { key, algorithm, issuedAt }: MacKey,
  { request, now }: TokenCheck,
  { hosts, algorithms, tolerance }: MacRules,
): Reason | undefined {
  if (!algorithms.includes(algorithm)) return 'mac_algorithm_not_offered'
  const [host = '', second] = request.headers['host'] ?? []
  const authority = second === undefined ? parseAuthority(host, request.secure) : undefined
  if (authority === undefined || !isListed(authority, hosts, request.secure)) return 'mac_host_not_listed'
  if (!hasMac(normalizedRequest(credentials, request, authority), key, algorithm, credentials.mac))
    return 'mac_wrong'
  const { since, seconds } = credentials.time
  const time = since === 'epoch' ? seconds : issuedAt + seconds
  return Math.abs(now - time) > tolerance ? 'mac_not_in_time' : undefined
}

// Valid for twice the tolerance. The third time: clocks of processes differ.
const rememberedFor = ({ tolerance }: MacRules) => 3 * tolerance

const nonceKey = ({ id, ts = '', nonce }: MacCredentials): string =>
  `mac:${digest([id, ts, nonce].join('\n'))}`

/** Options of {@link mac}. */
export interface MacOptions {
  /**
   * The hosts of the guarded resources, as in the header `Host`: `api.example.com`, with a port unless it is
   * the default one.
   */
  readonly hosts: readonly string[]
  /** New tokens get the first one; those with another one stay valid. Default `['hmac-sha-256']`. */
  readonly algorithms?: readonly MacAlgorithm[]
  /** Whole seconds between a request and the clock of the guard, 1 to 300. Default 60. */
  readonly tolerance?: number
}

const fields = {
  hosts: needed(
    [],
    aListOf(
      isAuthority,
      "must be a list of hosts as the Host header names them, such as ['api.example.com'], with a port unless it is the default one.",
    ),
  ),
  algorithms: usual<readonly MacAlgorithm[]>(
    ['hmac-sha-256'],
    aListOf(isMacAlgorithm, "must be a list of 'hmac-sha-256' and 'hmac-sha-1'; new tokens get the first."),
  ),
  tolerance: someSeconds(60, 1, 300),
} satisfies Fields<MacOptions>

type MacRules = Read<typeof fields>

interface MacKey {
  readonly key: string
  readonly algorithm: MacAlgorithm
  /** Seconds since the epoch. */
  readonly issuedAt: number
}

const purpose = 'mac key'

function macKeyOf(tokenData: Json | undefined, accessToken: string): MacKey {
  const { sealedKey, algorithm, issuedAt } = isRecord(tokenData) ? tokenData : {}
  const key = isText(sealedKey) ? unsealText(sealedKey, { credential: accessToken, purpose }) : undefined
  if (key === undefined || !isMacAlgorithm(algorithm) || typeof issuedAt !== 'number')
    throw new Error('A stored access token of the type mac is not readable by this version.')
  return { key, algorithm, issuedAt }
}

/** The value of `mac_algorithm`. `hmac-sha-1` is for clients that cannot change any more. */
export type MacAlgorithm = 'hmac-sha-256' | 'hmac-sha-1'

const hashes: Readonly<Record<MacAlgorithm, string>> = { 'hmac-sha-256': 'sha256', 'hmac-sha-1': 'sha1' }

function isMacAlgorithm(value: unknown): value is MacAlgorithm {
  return isText(value) && Object.hasOwn(hashes, value)
}

/** In constant time. */
function hasMac(text: string, key: string, algorithm: MacAlgorithm, shownMac: string): boolean {
  const wanted = Buffer.from(createHmac(hashes[algorithm], key).update(text).digest('base64'))
  const actual = Buffer.from(shownMac)
  return actual.length === wanted.length && timingSafeEqual(actual, wanted)
}

interface Authority {
  readonly host: string
  readonly port: string
}

const grammar = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::([1-9]\d{0,4}))?$/i

/** The header `Host`. Undefined if malformed. */
function parseAuthority(text: string, secure: boolean): Authority | undefined {
  const [, host, port = secure ? '443' : '80'] = grammar.exec(text) ?? []
  return host === undefined ? undefined : { host: host.toLowerCase(), port }
}

const isListed = (authority: Authority, hosts: readonly string[], secure: boolean): boolean =>
  hosts.some((entry) => {
    const listed = parseAuthority(entry, secure)
    return listed?.host === authority.host && listed.port === authority.port
  })

function isAuthority(value: unknown): value is string {
  return typeof value === 'string' && grammar.test(value)
}

interface MacCredentials {
  readonly id: string
  /** Seconds. `issue`: the age of the key, with which the nonce begins. */
  readonly time: { readonly since: 'epoch' | 'issue'; readonly seconds: number }
  /** As received; undefined if the nonce has the age. */
  readonly ts: string | undefined
  readonly nonce: string
  readonly ext: string
  readonly mac: string
}

const maximumLength = 2048
// Printable ASCII without quote and backslash, so no escaping.
const attribute = /(id|ts|nonce|ext|mac)="([\x20\x21\x23-\x5B\x5D-\x7E]*)"/gi
const attributeList = new RegExp(`^${attribute.source}(?:[ \\t]*,[ \\t]*${attribute.source})*$`, 'i')

const plain = /^[\x21\x23-\x5B\x5D-\x7E]{1,128}$/
const withAge = /^(0|[1-9]\d{0,11}):[\x21\x23-\x5B\x5D-\x7E]{1,128}$/
const timestamp = /^[1-9]\d{0,11}$/
const base64 = /^(?:[A-Za-z0-9+/]{27}|[A-Za-z0-9+/]{43})=$/

/** Undefined also for a `bodyhash`, which a guard cannot check. */
function parseMacCredentials(text: string): MacCredentials | undefined {
  const attributes = attributesOf(text)
  if (attributes === undefined) return undefined
  const { id = '', ts, nonce = '', ext = '', mac: shownMac = '' } = Object.fromEntries(attributes)
  if (!plain.test(id) || !base64.test(shownMac)) return undefined
  const time = timeOf(ts, nonce)
  return time === undefined ? undefined : { id, time, ts, nonce, ext, mac: shownMac }
}

function timeOf(ts: string | undefined, nonce: string): MacCredentials['time'] | undefined {
  if (ts === undefined) {
    const [, age] = withAge.exec(nonce) ?? []
    return age === undefined ? undefined : { since: 'issue', seconds: Number(age) }
  }
  return timestamp.test(ts) && plain.test(nonce) ? { since: 'epoch', seconds: Number(ts) } : undefined
}

function attributesOf(text: string): ReadonlyMap<string, string> | undefined {
  if (text.length > maximumLength || !attributeList.test(text)) return undefined
  const attributes = new Map<string, string>()
  for (const [, name = '', value = ''] of text.matchAll(attribute)) {
    if (attributes.has(name.toLowerCase())) return undefined
    attributes.set(name.toLowerCase(), value)
  }
  return attributes
}

/**
 * draft-ietf-oauth-v2-http-mac-01 3.2.1 with `ts`, else -00 3.3.1 with an empty body hash. Only the nonce of
 * the second has a colon, so no text has both forms.
 */
function normalizedRequest(
  { ts, nonce, ext }: Pick<MacCredentials, 'ts' | 'nonce' | 'ext'>,
  { method, target }: Pick<ResourceRequest, 'method' | 'target'>,
  { host, port }: Authority,
): string {
  const request = [method, target, host, port]
  const lines = ts === undefined ? [nonce, ...request, '', ext] : [ts, nonce, ...request, ext]
  return lines.map((line) => `${line}\n`).join('')
}
