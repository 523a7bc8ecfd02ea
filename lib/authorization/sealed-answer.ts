import { isRecord, isText, isTexts } from '../protocol/configuration'
import type { Random } from '../protocol/credential'
import { sealText, unsealText } from '../protocol/seal'
import type { TokenProperties } from '../protocol/token-type'
import type { Issued } from './issue'

const purpose = 'refresh token grace'

/** Encrypts an answer under a key that only the bearer of this refresh token can derive; the store cannot read it. */
export function seal(issued: Issued, refreshToken: string, random: Random): string {
  return sealText(JSON.stringify(issued), { credential: refreshToken, purpose }, random)
}

/** The answer again; undefined when this token did not seal it or the text was altered. */
export function unseal(sealed: string, refreshToken: string): Issued | undefined {
  const text = unsealText(sealed, { credential: refreshToken, purpose })
  return text === undefined ? undefined : parseIssued(JSON.parse(text))
}

function parseIssued(value: unknown): Issued | undefined {
  if (!isRecord(value)) return undefined
  const { accessToken, tokenType, properties, expiresAt, scope, refreshToken } = value
  if (!isText(accessToken) || !isText(tokenType) || !isProperties(properties)) return undefined
  if (typeof expiresAt !== 'number' || !isTexts(scope) || !isText(refreshToken)) return undefined
  return { accessToken, tokenType, properties, expiresAt, scope, refreshToken }
}

function isProperties(value: unknown): value is TokenProperties {
  return (
    isRecord(value) && Object.values(value).every((member) => ['string', 'number'].includes(typeof member))
  )
}
