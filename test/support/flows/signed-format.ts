import { createHmac, timingSafeEqual } from 'node:crypto'
import type { AccessTokenClaims, AccessTokenFormat, TokenReference } from '../../../lib/index'

type Sign = (text: string) => string

/** A format that does not look at the request. */
export interface SignedFormat extends AccessTokenFormat {
  encode(claims: AccessTokenClaims): Promise<string>
}

/** A format of a host's own: the claims as JSON in base64url, a dot, and their MAC. */
export function signedFormat(name: string, key = name, bend: Partial<SignedFormat> = {}): SignedFormat {
  const sign: Sign = (text) => createHmac('sha256', key).update(text).digest('base64url')
  return {
    name,
    encode: async (claims) => textOf(claims, sign),
    decode: async (text) => referenceIn(text, sign),
    ...bend,
  }
}

function textOf(claims: AccessTokenClaims, sign: Sign): string {
  const body = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return `${body}.${sign(body)}`
}

function referenceIn(text: string, sign: Sign): TokenReference | undefined {
  const [body = '', mac = ''] = text.split('.')
  const [shown, expected] = [Buffer.from(mac), Buffer.from(sign(body))]
  if (shown.length !== expected.length || !timingSafeEqual(shown, expected)) return undefined
  const { authorizationId, tokenId } = claimsIn(text)
  return { authorizationId, tokenId }
}

/** What a token of a signed format says, whoever signed it. */
export function claimsIn(text: string): AccessTokenClaims {
  return JSON.parse(Buffer.from(text.split('.')[0] ?? '', 'base64url').toString())
}
