import type { Json } from '../protocol/bindings'
import { formatScope, type Scope } from '../protocol/scope'
import type { AccessToken, Authorization, RefreshToken } from './authorization'

// A tuple of few characters: Redis keeps it by the million, and every guarded request reads one. Its first place is a
// letter for the state with the digest of the issuer behind it. Client, scope and token type follow, then what the state
// has; what is absent at the end is left away.
export const states = { pending: 'p', denied: 'd', approved: 'c', active: 'a' } as const

/** The token type that stands in a record as an empty text, because nearly every record has it. */
export const usualTokenType = 'bearer'

const usual = (tokenType: string) => (tokenType === usualTokenType ? '' : tokenType)

// JSON writes null for what is absent between others.
type Stored = Json | undefined | readonly Stored[]

/** Writes an authorization as text for a store, without its id, which is the key; it holds digests only. */
export function encodeAuthorization(authorization: Authorization): string {
  return JSON.stringify(trimmed(placesOf(authorization)))
}

function placesOf(authorization: Authorization): Stored[] {
  const { state, issuerDigest, clientId, scope, tokenType, extensionData, subject } = authorization
  const places: Stored[] = [`${states[state]}${issuerDigest}`, clientId, formatScope(scope), usual(tokenType)]
  const bound = Object.keys(extensionData).length === 0 ? undefined : extensionData
  switch (state) {
    case 'pending':
    case 'denied': {
      const { handle, expiresAt, request } = authorization
      const { responseType, redirectUri, redirectUriSent, requestState } = request
      places.push(handle, expiresAt, subject, responseType, redirectUri, redirectUriSent, requestState, bound)
      return places
    }
    case 'approved': {
      const { accessTokens, handle, code } = authorization
      const { digest, expiresAt, redirectUri, redirectUriSent, failures, repetition } = code
      places.push(tokensOf(accessTokens, scope), subject, digest, expiresAt, redirectUri, redirectUriSent)
      places.push(failures, bound, handle, repetition?.salt, repetition?.responseType)
      places.push(repetition?.requestState)
      return places
    }
    case 'active': {
      const { accessTokens, spentCode, refreshToken, handle, usedUntil } = authorization
      const refresh = refreshToken && refreshPlaces(refreshToken)
      places.push(tokensOf(accessTokens, scope), subject, spentCode, refresh, bound, handle, usedUntil)
      return places
    }
  }
}

function tokensOf(accessTokens: readonly AccessToken[], granted: Scope): Stored {
  return accessTokens.map(({ digest, scope, expiresAt, tokenData }) => {
    const token = `${digest} ${expiresAt.toString(36)}`
    const own = formatScope(scope)
    const isUsual = tokenData === undefined && own === formatScope(granted)
    return isUsual ? token : trimmed([token, own, tokenData])
  })
}

function refreshPlaces({ digest, generation, tagKey, expiresAt, rotation }: RefreshToken): Stored {
  const { at, salt, sealedProperties } = rotation ?? {}
  return trimmed([digest, generation, tagKey, expiresAt, at, salt, sealedProperties])
}

function trimmed(places: Stored[]): Stored[] {
  while (places.at(-1) === undefined) places.pop()
  return places
}
