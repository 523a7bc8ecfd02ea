import type { Scope } from '../protocol/scope'
import type { AccessToken, RefreshToken, Rotation } from './authorization'
import { ofAccessToken, ofRefreshToken } from './stored-places'
import type { StoredTuple } from './stored-tuple'

export function accessTokensOf(tokens: StoredTuple, granted: Scope): readonly AccessToken[] {
  return tokens.map((at) => accessTokenOf(tokens, at, granted))
}

function accessTokenOf(tokens: StoredTuple, at: number, granted: Scope): AccessToken {
  if (!tokens.isTuple(at))
    return { scope: granted, tokenData: undefined, extensionData: {}, ...tokens.digestWithEnd(at) }
  const token = tokens.tuple(at)
  const { digestWithEnd, scope, tokenData, extensionData } = ofAccessToken
  return {
    scope: token.has(scope) ? token.scope(scope) : granted,
    tokenData: token.has(tokenData) ? token.tuple(tokenData).json(0) : undefined,
    extensionData: token.has(extensionData) ? token.extensionData(extensionData) : {},
    ...token.digestWithEnd(digestWithEnd),
    ...formOfToken(token),
  }
}

function formOfToken(token: StoredTuple): Pick<AccessToken, 'tokenType' | 'formatted'> {
  const { tokenType, format, issuedAt } = ofAccessToken
  if (token.length <= tokenType) return {}
  const formatted = token.has(format)
    ? { format: token.text(format), issuedAt: token.integer(issuedAt) }
    : undefined
  return { tokenType: token.optionalText(tokenType), formatted }
}

export function refreshTokenOf(tuple: StoredTuple): RefreshToken {
  return {
    digest: tuple.text(ofRefreshToken.digest),
    generation: tuple.integer(ofRefreshToken.generation),
    tagKey: tuple.text(ofRefreshToken.tagKey),
    expiresAt: tuple.integer(ofRefreshToken.expiresAt),
    rotation: tuple.has(ofRefreshToken.rotatedAt) ? rotationOf(tuple) : undefined,
  }
}

function rotationOf(tuple: StoredTuple): Rotation {
  return {
    at: tuple.integer(ofRefreshToken.rotatedAt),
    salt: tuple.text(ofRefreshToken.salt),
    sealedProperties: tuple.optionalText(ofRefreshToken.sealedProperties),
  }
}
