import { digestLength } from '../protocol/credential'
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
  /** Of the opaque text. It names the token, also if its client has another text. */
  readonly digest: string
  readonly scope: Scope
  readonly expiresAt: number
  /** No credential. */
  readonly tokenData: Json | undefined
  readonly extensionData: ExtensionData
  /** Default: that of the authorization. */
  readonly tokenType?: string | undefined
  readonly formatted?: Formatted | undefined
}

export interface Formatted {
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

const ownScope = group<Partial<Pick<AccessToken, 'scope'>>>({ scope: omittable(scope(1)) })

const ownTerms = group<Omit<AccessToken, 'digest' | 'scope' | 'expiresAt'>>({
  tokenData: optional(json(2)),
  extensionData: extensionData(3),
  tokenType: omittable(text(4)),
  formatted: omittable(inline(group<Formatted>({ format: text(5), issuedAt: integer(6) }))),
})

export function storedTokenOf(token: AccessToken, holder: Pick<Holder, 'scope'>): StoredToken {
  const stored: [string, ...Json[]] = [`${token.digest} ${token.expiresAt.toString(36)}`]
  if (formatScope(token.scope) !== formatScope(holder.scope)) ownScope.write(token, stored)
  ownTerms.write(token, stored)
  return stored.length === 1 ? stored[0] : stored
}

const noData: ExtensionData = {}

export function accessTokenOf(token: StoredToken, { scope: usual }: Pick<Holder, 'scope'>): AccessToken {
  const digest = digestOf(token)
  const expiresAt = endOf(token)
  return typeof token === 'string'
    ? { digest, scope: usual, expiresAt, tokenData: undefined, extensionData: noData }
    : { digest, scope: usual, expiresAt, ...ownScope.read(token), ...ownTerms.read(token) }
}

export function newestToken(holder: Holder): AccessToken | undefined {
  const newest = holder.accessTokens.at(-1)
  return newest === undefined ? undefined : accessTokenOf(newest, holder)
}

export function newestDigest({ accessTokens }: Holder): string | undefined {
  const newest = accessTokens.at(-1)
  return newest === undefined ? undefined : digestOf(newest)
}

/** Needs no constant time: a digest gives no access. The newest is the likeliest. */
export function findToken(holder: Holder, digest: string): AccessToken | undefined {
  const found = holder.accessTokens.findLast((token) => digestOf(token) === digest)
  return found === undefined ? undefined : accessTokenOf(found, holder)
}

const digestOf = (token: StoredToken): string => digestWithEndOf(token).slice(0, digestLength)

export function endOf(token: StoredToken): number {
  const digestWithEnd = digestWithEndOf(token)
  let end = 0
  for (let at = digestLength + 1; at < digestWithEnd.length; at++) {
    const code = digestWithEnd.charCodeAt(at)
    end = end * 36 + code - (code < 97 ? 48 : 87)
  }
  return end
}

export const lastEndOf = (tokens: readonly StoredToken[]): number =>
  tokens.reduce((last, token) => Math.max(last, endOf(token)), 0)

const digestWithEndOf = (token: StoredToken) => (typeof token === 'string' ? token : token[0])

export const storedTokens = (at: number): Place<readonly StoredToken[]> =>
  place<readonly StoredToken[]>(at, asIs, (element) =>
    isList(element) && element.every(isStoredToken) ? element : undefined,
  )

function isStoredToken(token: Json, at: number): token is StoredToken {
  const digestWithEnd = isList(token) ? token[0] : token
  // Of each token at each read: no regular expression. Without digits behind the space, the token has ended.
  if (typeof digestWithEnd !== 'string' || digestWithEnd.charAt(digestLength) !== ' ') return unreadable(at)
  if (isList(token)) {
    ownScope.read(token)
    ownTerms.read(token)
  }
  return true
}
