import { isRecord } from '../protocol/configuration'
import { createCredential, createRefreshToken, createSalt, hasDigest } from '../protocol/credential'
import { derivedBytes } from '../protocol/derived-bytes'
import type { Random } from '../protocol/random'
import { formatScope, type Scope } from '../protocol/scope'
import { sealText, unsealText } from '../protocol/seal'
import type { TokenProperties } from '../protocol/token-type'
import type { AccessToken, Active, RefreshToken } from './authorization'
import type { IssueContext } from './circumstances'
import { issuePair, type Issuance } from './issue'
import { storedAccessToken } from './present-access-token'

const purpose = 'refresh token grace'
const pairFrom = (salt: string) => `refresh token pair ${salt}`

/** Where the secret of an access token comes from that a repeated refresh asks for with another scope than the first. */
export function tokenSecretsForScope(refreshToken: string, salt: string, scope: Scope): Random {
  return derivedBytes(refreshToken, `access token beside the pair ${salt} ${formatScope(scope.toSorted())}`)
}

/**
 * Issues the next pair in a way that can be repeated with the refresh token that goes out of use, and with nothing else:
 * the secrets are derived from it and from a salt, which is all that the record keeps of them.
 */
export function rotate(current: Active, refreshToken: string, scope: Scope, context: IssueContext): Issuance {
  const { now, random } = context
  const salt = createSalt(random)
  const secrets = derivedBytes(refreshToken, pairFrom(salt))
  const { authorization, issued, refreshToken: next } = issuePair(current, scope, context, secrets)
  const rotation = { at: now, salt, sealedProperties: sealed(issued.properties, refreshToken, random) }
  return { authorization: { ...authorization, refreshToken: { ...next, rotation } }, issued }
}

/** The pair that a rotation issued. */
export interface RotatedPair {
  readonly accessToken: string
  /** What the record has of it; undefined when it ended and was forgotten. */
  readonly stored: AccessToken | undefined
  readonly properties: TokenProperties
  readonly refreshToken: string
}

/** The pair of the last rotation again; undefined when this is not the refresh token that it put out of use. */
export function rederiveTokens(
  { id, accessTokens }: Active,
  next: RefreshToken,
  refreshToken: string,
): RotatedPair | undefined {
  const { rotation } = next
  if (rotation === undefined) return undefined
  const secrets = derivedBytes(refreshToken, pairFrom(rotation.salt))
  const accessToken = createCredential('accessToken', id, secrets)
  const nextRefreshToken = createRefreshToken(id, next.generation, next.tagKey, secrets)
  if (!hasDigest(nextRefreshToken, next.digest)) return undefined
  return {
    accessToken,
    stored: storedAccessToken(accessTokens, accessToken),
    properties: unsealed(rotation.sealedProperties, refreshToken),
    refreshToken: nextRefreshToken,
  }
}

function sealed(properties: TokenProperties, refreshToken: string, random: Random): string | undefined {
  if (Object.keys(properties).length === 0) return undefined
  return sealText(JSON.stringify(properties), { credential: refreshToken, purpose }, random)
}

function unsealed(text: string | undefined, refreshToken: string): TokenProperties {
  if (text === undefined) return {}
  const opened = unsealText(text, { credential: refreshToken, purpose })
  const properties: unknown = opened === undefined ? undefined : JSON.parse(opened)
  if (isProperties(properties)) return properties
  throw new Error('What a token type added to the last answer was altered in the store.')
}

function isProperties(value: unknown): value is TokenProperties {
  return (
    isRecord(value) && Object.values(value).every((member) => ['string', 'number'].includes(typeof member))
  )
}
