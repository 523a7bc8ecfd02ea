import type { ExtensionData } from '../protocol/extension-data'
import type { Json } from '../protocol/json'
import { formatScope, type Scope } from '../protocol/scope'
import {
  asIs,
  extensionData,
  group,
  inline,
  integer,
  isList,
  json,
  omittable,
  optional,
  place,
  type Place,
  scope,
  text,
  unreadable,
} from './places'

export interface AccessToken {
  /** Digest of the opaque text. It names the token, also if its client has another text. */
  readonly digest: string
  readonly scope: Scope
  readonly expiresAt: number
  /** For checks of the token's use. No credential. */
  readonly tokenData: Json | undefined
  readonly extensionData: ExtensionData
  /** Undefined if it is that of the authorization. */
  readonly tokenType?: string | undefined
  /** Undefined for an opaque text. */
  readonly formatted?: Formatted | undefined
}

/** A format of the server wrote the text of the token. */
export interface Formatted {
  /** The only format that can read the token. */
  readonly format: string
  /** A repeated refresh writes the same time. */
  readonly issuedAt: number
}

/** As stored, because most are never read: digest, space, end in base 36. A list, if it differs from its record. */
export type StoredToken = string | readonly [string, ...Json[]]

interface Holder {
  readonly scope: Scope
  readonly accessTokens: readonly StoredToken[]
}

type Own = Omit<AccessToken, 'digest' | 'expiresAt' | 'scope'> & { readonly scope: Scope | undefined }

const own = group<Own>({
  scope: optional(scope(1)),
  tokenData: optional(json(2)),
  extensionData: extensionData(3),
  tokenType: omittable(text(4)),
  formatted: omittable(inline(group<Formatted>({ format: text(5), issuedAt: integer(6) }))),
})

const nothingOwn: Own = { scope: undefined, tokenData: undefined, extensionData: {} }

export function storedTokenOf(token: AccessToken, holder: Pick<Holder, 'scope'>): StoredToken {
  const digestWithEnd = `${token.digest} ${token.expiresAt.toString(36)}`
  const isOfHolder = formatScope(token.scope) === formatScope(holder.scope)
  const list: Json[] = []
  own.write({ ...token, scope: isOfHolder ? undefined : token.scope }, list)
  return list.length === 0 ? digestWithEnd : [digestWithEnd, ...list.slice(1)]
}

export function accessTokenOf(token: StoredToken, holder: Pick<Holder, 'scope'>): AccessToken {
  const { scope: ownScope, ...rest } = typeof token === 'string' ? nothingOwn : own.read(token)
  return { digest: digestOf(token), scope: ownScope ?? holder.scope, expiresAt: endOf(token), ...rest }
}

export function newestToken(holder: Holder): AccessToken | undefined {
  const newest = holder.accessTokens.at(-1)
  return newest === undefined ? undefined : accessTokenOf(newest, holder)
}

/** Plain: the timing reveals a digest at most, which gives no access. The newest is the likeliest. */
export function findToken(holder: Holder, digest: string): AccessToken | undefined {
  const beginning = `${digest} `
  const found = holder.accessTokens.findLast((token) => digestWithEndOf(token).startsWith(beginning))
  return found === undefined ? undefined : accessTokenOf(found, holder)
}

export function digestOf(token: StoredToken): string {
  const digestWithEnd = digestWithEndOf(token)
  return digestWithEnd.slice(0, digestWithEnd.lastIndexOf(' '))
}

export function endOf(token: StoredToken): number {
  const digestWithEnd = digestWithEndOf(token)
  let end = 0
  for (let at = digestWithEnd.lastIndexOf(' ') + 1; at < digestWithEnd.length; at++) {
    const code = digestWithEnd.charCodeAt(at)
    end = end * 36 + code - (code < 97 ? 48 : 87)
  }
  return end
}

export function lastEndOf(tokens: readonly StoredToken[]): number {
  return tokens.reduce((last, token) => Math.max(last, endOf(token)), 0)
}

const digestWithEndOf = (token: StoredToken) => (typeof token === 'string' ? token : token[0])

export const storedTokens = (at: number): Place<readonly StoredToken[]> =>
  place<readonly StoredToken[]>(at, asIs, (element) =>
    isList(element) && element.every(isStoredToken) ? element : undefined,
  )

const digestWithEndForm = /^[^ ]+ [\da-z]{1,10}$/

function isStoredToken(token: Json, at: number): token is StoredToken {
  const digestWithEnd = isList(token) ? token[0] : token
  if (typeof digestWithEnd !== 'string' || !digestWithEndForm.test(digestWithEnd)) return unreadable(at)
  return !isList(token) || own.read(token) !== undefined
}
