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
  const { digestWithEnd, scope } = ofAccessToken
  return {
    scope: token.scope(scope),
    ...dataOfToken(token),
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

function dataOfToken(token: StoredTuple): Pick<AccessToken, 'tokenData' | 'extensionData'> {
  const { tokenData, extensionData } = ofAccessToken
  if (token.length <= tokenData) return { tokenData: undefined, extensionData: {} }
  if (token.length <= extensionData) return { tokenData: token.json(tokenData), extensionData: {} }
  const ofType = token.tuple(tokenData)
  return {
    tokenData: ofType.length === 0 ? undefined : ofType.json(0),
    extensionData: token.extensionData(extensionData),
  }
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
