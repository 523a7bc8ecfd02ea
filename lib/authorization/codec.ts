import { type ExtensionData, isEmpty, type Json } from '../protocol/extension'
import { formatScope, parseScope, type Scope } from '../protocol/scope'
import type {
  AccessToken,
  Active,
  Approved,
  Authorization,
  Grant,
  RefreshToken,
  Repetition,
  Rotation,
  Shown,
} from './authorization'
import { issuerDigestLength } from './issuer'

// The stored form of a record is a JSON list, as short as possible: Redis keeps millions of records, and every
// guarded request reads one. The first element is a letter for the state, followed by the digest of the issuer. The
// next elements are client, scope and token type, then the members of the state. The list ends with its last present
// element.

/** The letter of each state in a stored record. */
export const states = { unclaimed: 'u', pending: 'p', denied: 'd', approved: 'c', active: 'a' } as const

/** The token type of nearly every record. The stored form has an empty text in its place. */
export const usualTokenType = 'bearer'

const usual = (tokenType: string) => (tokenType === usualTokenType ? '' : tokenType)

// JSON writes null for an undefined element of a list.
type Stored = Json | undefined | readonly Stored[]

/**
 * Writes an authorization as text for a store. The text holds digests, and no code or token in clear. The text does not
 * hold the id, because the id is the key.
 */
export function encodeAuthorization(authorization: Authorization): string {
  return JSON.stringify(trimmed(elementsOf(authorization)))
}

function elementsOf(authorization: Authorization): Stored[] {
  const { state, issuerDigest, clientId, scope, tokenType, extensionData, subject } = authorization
  const list: Stored[] = [`${states[state]}${issuerDigest}`, clientId, formatScope(scope), usual(tokenType)]
  const data = isEmpty(extensionData) ? undefined : extensionData
  switch (state) {
    case 'unclaimed':
    case 'pending':
    case 'denied': {
      const { handle, expiresAt, request } = authorization
      const { responseType, redirectUri, redirectUriSent, requestState } = request
      list.push(handle, expiresAt, subject, responseType, redirectUri, redirectUriSent, requestState, data)
      return list
    }
    case 'approved': {
      const { accessTokens, handle, code } = authorization
      const { digest, expiresAt, redirectUri, redirectUriSent, failures, repetition } = code
      list.push(tokensOf(accessTokens, scope), subject, digest, expiresAt, redirectUri, redirectUriSent)
      list.push(failures, data, handle, repetition?.salt, repetition?.responseType)
      list.push(repetition?.requestState)
      return list
    }
    case 'active': {
      const { accessTokens, spentCode, refreshToken, handle, usedUntil } = authorization
      const refresh = refreshToken && refreshElements(refreshToken)
      list.push(tokensOf(accessTokens, scope), subject, spentCode, refresh, data, handle, usedUntil)
      return list
    }
  }
}

function tokensOf(accessTokens: readonly AccessToken[], granted: Scope): Stored {
  return accessTokens.map(({ digest, scope, expiresAt, tokenData, extensionData }) => {
    const token = `${digest} ${expiresAt.toString(36)}`
    const own = formatScope(scope)
    // The list around the data of the token type distinguishes null from absent data.
    if (!isEmpty(extensionData))
      return [token, own, tokenData === undefined ? [] : [tokenData], extensionData]
    const isUsual = tokenData === undefined && own === formatScope(granted)
    return isUsual ? token : trimmed([token, own, tokenData])
  })
}

function refreshElements({ digest, generation, tagKey, expiresAt, rotation }: RefreshToken): Stored {
  const { at, salt, sealedProperties } = rotation ?? {}
  return trimmed([digest, generation, tagKey, expiresAt, at, salt, sealedProperties])
}

function trimmed(elements: Stored[]): Stored[] {
  while (elements.at(-1) === undefined) elements.pop()
  return elements
}

/**
 * Reads a text that `encodeAuthorization` wrote.
 *
 * @param id the key under which the store keeps the text.
 * @throws Error if the text is malformed, or if this version does not know its state.
 */
export function decodeAuthorization(id: string, text: string): Authorization {
  const tuple = StoredTuple.parse(text)
  const first = tuple.text(0)
  const state = first.length <= 1 || first.length === 1 + issuerDigestLength ? first.charAt(0) : first
  // Old versions wrote the letter without an issuer. The record then gets an empty digest, which no issuer has, so the
  // record is unknown to every server.
  const own = { id, issuerDigest: first.slice(1) }
  switch (state) {
    case states.unclaimed:
      return { state: 'unclaimed', ...requestOf(own, tuple), subject: tuple.nothing(6) }
    case states.pending:
      return { state: 'pending', ...shownOf(own, tuple) }
    case states.denied:
      return { state: 'denied', ...shownOf(own, tuple) }
    case states.approved:
      return approvedOf(own, tuple)
    case states.active:
      return activeOf(own, tuple)
    default:
      throw new Error(`A stored authorization is not readable by this version: its state is "${state}".`)
  }
}

type Own = Pick<Grant, 'id' | 'issuerDigest'>

function shownOf(own: Own, tuple: StoredTuple): Shown {
  return { ...requestOf(own, tuple), subject: tuple.text(6) }
}

function requestOf(own: Own, tuple: StoredTuple): Omit<Shown, 'subject'> {
  return {
    ...grantOf(own, tuple, 11),
    handle: tuple.text(4),
    expiresAt: tuple.integer(5),
    request: {
      responseType: tuple.text(7),
      redirectUri: tuple.text(8),
      redirectUriSent: tuple.boolean(9),
      requestState: tuple.optionalText(10),
    },
  }
}

function approvedOf(own: Own, tuple: StoredTuple): Approved {
  const grant = grantOf(own, tuple, 11)
  return {
    state: 'approved',
    ...grant,
    accessTokens: accessTokensOf(tuple, grant.scope),
    subject: tuple.text(5),
    code: {
      digest: tuple.text(6),
      expiresAt: tuple.integer(7),
      redirectUri: tuple.text(8),
      redirectUriSent: tuple.boolean(9),
      failures: tuple.integer(10),
      repetition: tuple.has(13) ? repetitionOf(tuple) : undefined,
    },
    handle: tuple.optionalText(12),
  }
}

function repetitionOf(tuple: StoredTuple): Repetition {
  return { salt: tuple.text(13), responseType: tuple.text(14), requestState: tuple.optionalText(15) }
}

function activeOf(own: Own, tuple: StoredTuple): Active {
  const grant = grantOf(own, tuple, 8)
  return {
    state: 'active',
    ...grant,
    accessTokens: accessTokensOf(tuple, grant.scope),
    subject: tuple.optionalText(5),
    spentCode: tuple.optionalText(6),
    refreshToken: tuple.has(7) ? refreshTokenOf(tuple.tuple(7)) : undefined,
    handle: tuple.optionalText(9),
    usedUntil: tuple.has(10) ? tuple.integer(10) : undefined,
  }
}

function grantOf(own: Own, tuple: StoredTuple, extensionData: number): Omit<Grant, 'subject'> {
  return {
    ...own,
    clientId: tuple.text(1),
    scope: tuple.scope(2),
    tokenType: tuple.json(3) === '' ? usualTokenType : tuple.text(3),
    extensionData: tuple.has(extensionData) ? tuple.extensionData(extensionData) : {},
  }
}

function accessTokensOf(record: StoredTuple, granted: Scope): readonly AccessToken[] {
  const tokens = record.tuple(4)
  return tokens.map((at) => accessTokenOf(tokens, at, granted))
}

function accessTokenOf(tokens: StoredTuple, at: number, granted: Scope): AccessToken {
  if (!tokens.isTuple(at))
    return { scope: granted, tokenData: undefined, extensionData: {}, ...tokens.digestWithEnd(at) }
  const token = tokens.tuple(at)
  return { scope: token.scope(1), ...dataOfToken(token), ...token.digestWithEnd(0) }
}

function dataOfToken(token: StoredTuple): Pick<AccessToken, 'tokenData' | 'extensionData'> {
  if (token.length < 3) return { tokenData: undefined, extensionData: {} }
  if (token.length === 3) return { tokenData: token.json(2), extensionData: {} }
  const ofType = token.tuple(2)
  return {
    tokenData: ofType.length === 0 ? undefined : ofType.json(0),
    extensionData: token.extensionData(3),
  }
}

function refreshTokenOf(tuple: StoredTuple): RefreshToken {
  return {
    digest: tuple.text(0),
    generation: tuple.integer(1),
    tagKey: tuple.text(2),
    expiresAt: tuple.integer(3),
    rotation: tuple.has(4) ? rotationOf(tuple) : undefined,
  }
}

function rotationOf(tuple: StoredTuple): Rotation {
  return { at: tuple.integer(4), salt: tuple.text(5), sealedProperties: tuple.optionalText(6) }
}

/** One list of a stored record. Each reader throws an Error if the element has another type or form. */
export class StoredTuple {
  private constructor(private readonly elements: readonly Json[]) {}

  /** Parses a JSON list. */
  static parse(text: string): StoredTuple {
    try {
      const value: Json = JSON.parse(text)
      return new StoredTuple(isList(value) ? value : unreadable('all'))
    } catch (cause) {
      throw cause instanceof SyntaxError ? new Error(`${what}: the text is not JSON.`, { cause }) : cause
    }
  }

  get length(): number {
    return this.elements.length
  }

  has(at: number): boolean {
    return (this.elements[at] ?? null) !== null
  }

  isTuple(at: number): boolean {
    return isList(this.json(at))
  }

  /** The results of `read` for all positions, in order. */
  map<T>(read: (at: number) => T): readonly T[] {
    return this.elements.map((_, at) => read(at))
  }

  json(at: number): Json {
    return this.elements[at] ?? null
  }

  text(at: number): string {
    const value = this.elements[at]
    return typeof value === 'string' && value !== '' ? value : unreadable(at)
  }

  optionalText(at: number): string | undefined {
    return this.has(at) ? this.text(at) : undefined
  }

  nothing(at: number): undefined {
    return this.has(at) ? unreadable(at) : undefined
  }

  /** Reads a count or a time. */
  integer(at: number): number {
    const value = this.elements[at]
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : unreadable(at)
  }

  boolean(at: number): boolean {
    const value = this.elements[at]
    return typeof value === 'boolean' ? value : unreadable(at)
  }

  scope(at: number): Scope {
    return this.elements[at] === '' ? [] : (parseScope(this.text(at)) ?? unreadable(at))
  }

  /** Reads a digest, a space, and seconds since the epoch in base 36. */
  digestWithEnd(at: number): { readonly digest: string; readonly expiresAt: number } {
    const text = this.text(at)
    const space = text.lastIndexOf(' ')
    const expiresAt = Number.parseInt(text.slice(space + 1), 36)
    return space > 0 && Number.isSafeInteger(expiresAt)
      ? { digest: text.slice(0, space), expiresAt }
      : unreadable(at)
  }

  extensionData(at: number): ExtensionData {
    const value = this.elements[at]
    return typeof value === 'object' && value !== null && !isList(value) ? value : unreadable(at)
  }

  tuple(at: number): StoredTuple {
    const value = this.json(at)
    return new StoredTuple(isList(value) ? value : unreadable(at))
  }
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

const what = 'A stored authorization is not readable by this version'

function unreadable(at: number | 'all'): never {
  throw new Error(`${what}: ${at === 'all' ? 'the text is not a list' : `element ${at} is malformed`}.`)
}
