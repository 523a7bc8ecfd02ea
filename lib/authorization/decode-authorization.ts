import type { Scope } from '../protocol/scope'
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
import { states, usualTokenType } from './encode-authorization'
import { issuerDigestLength } from './of-issuer'
import { StoredTuple } from './stored-tuple'

/**
 * Reads what `encodeAuthorization` wrote.
 *
 * @param id the key under which it was stored.
 * @throws Error when the text is anything else.
 */
export function decodeAuthorization(id: string, text: string): Authorization {
  const tuple = StoredTuple.parse(text)
  const first = tuple.text(0)
  const state = first.length <= 1 || first.length === 1 + issuerDigestLength ? first.charAt(0) : first
  // A record of a version that named no issuer has the letter alone: no issuer's digest is empty, so it is unknown to all.
  const own = { id, issuerDigest: first.slice(1) }
  switch (state) {
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
  return {
    ...grantOf(own, tuple, 11),
    handle: tuple.text(4),
    expiresAt: tuple.integer(5),
    subject: tuple.text(6),
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
  if (!tokens.isTuple(at)) return { scope: granted, tokenData: undefined, ...tokens.digestWithEnd(at) }
  const token = tokens.tuple(at)
  const tokenData = token.length > 2 ? token.json(2) : undefined
  return { scope: token.scope(1), tokenData, ...token.digestWithEnd(0) }
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
