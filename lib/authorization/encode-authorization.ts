import type { Json } from '../protocol/bindings'
import { formatScope, type Scope } from '../protocol/scope'
import type { AccessToken, Authorization, RefreshToken } from './authorization'

// A tuple of few characters: Redis keeps it by the million, and every guarded request reads one. Its places are the state,
// client, scope and token type, then what the state has; what is absent at the end is left away.
export const states = { pending: 'p', denied: 'd', approved: 'c', active: 'a' } as const

type Stored = Json | undefined

/** Writes an authorization as text for a store, without its id, which is the key; it holds digests only. */
export function encodeAuthorization(authorization: Authorization): string {
  return JSON.stringify(trimmed([states[authorization.state], ...placesOf(authorization)]))
}

function placesOf(authorization: Authorization): Stored[] {
  if (authorization.state === 'denied') return [authorization.expiresAt]
  const { clientId, scope, tokenType, bindings, subject } = authorization
  const grant = [clientId, formatScope(scope), tokenType]
  const bound = Object.keys(bindings).length === 0 ? undefined : bindings
  switch (authorization.state) {
    case 'pending': {
      const { handle, expiresAt, request } = authorization
      const { responseType, redirectUri, redirectUriSent, requestState } = request
      const asked = [responseType, redirectUri, redirectUriSent, requestState]
      return [...grant, handle, expiresAt, subject, ...asked, bound]
    }
    case 'approved': {
      const { digest, expiresAt, redirectUri, redirectUriSent, failures } = authorization.code
      const code = [digest, expiresAt, redirectUri, redirectUriSent, failures]
      return [...grant, tokensOf(authorization.accessTokens, scope), subject, ...code, bound]
    }
    case 'active': {
      const { accessTokens, spentCode, refreshToken } = authorization
      const refresh = refreshToken && refreshPlaces(refreshToken)
      return [...grant, tokensOf(accessTokens, scope), subject, spentCode, refresh, bound]
    }
  }
}

function tokensOf(accessTokens: readonly AccessToken[], granted: Scope): Json {
  return accessTokens.map(({ digest, scope, expiresAt, kept }) => {
    const token = `${digest} ${expiresAt.toString(36)}`
    const own = formatScope(scope)
    const isUsual = kept === undefined && own === formatScope(granted)
    return isUsual ? token : trimmed([token, own, kept])
  })
}

function refreshPlaces({ digest, generation, tagKey, expiresAt, rotation }: RefreshToken): Json {
  return trimmed([digest, generation, tagKey, expiresAt, rotation?.at, rotation?.sealedAnswer])
}

function trimmed(places: readonly Stored[]): Json[] {
  return places
    .slice(0, places.findLastIndex((place) => place !== undefined) + 1)
    .map((place) => place ?? null)
}
