import { isSameScheme, parseAuthorization } from '../protocol/http-authentication'
import { challengeOfType, type TokenType } from '../protocol/token-type'
import { type Challenge, type ChallengeAttributes, writeChallenge } from '../resource-server/challenge'

/** A refusal, as its challenges show it. */
interface Challenged {
  /** The attributes that the refusal itself has. */
  readonly own: ChallengeAttributes
  /** The members of the error; none for a request without a token. */
  readonly error: ChallengeAttributes
  /** The `Authorization` headers of the request. */
  readonly authorization: readonly string[]
}

/**
 * The headers with the challenges of these token types: one line for each scheme, because many clients cannot parse a
 * list (RFC 9110 11.6.1).
 */
export function schemeChallenges(
  tokenTypes: readonly TokenType[],
  challenge: Challenge,
  { own, error, authorization }: Challenged,
): Record<string, string | string[]> {
  const used = usedScheme(authorization)
  const isKnown = tokenTypes.some(({ scheme }) => used !== undefined && isSameScheme(scheme, used))
  // RFC 9449 7.2: if the request used one scheme, its challenge alone has the error.
  const errorFor = ({ scheme }: TokenType) =>
    !isKnown || used === undefined || isSameScheme(scheme, used) ? error : {}
  const headers: Record<string, string | string[]> = {}
  for (const type of tokenTypes) Object.assign(headers, type.challengeHeaders?.())
  headers['WWW-Authenticate'] = tokenTypes.map((type) =>
    writeChallenge(
      type.scheme,
      challenge,
      type.challenge === undefined ? own : { ...challengeOfType(type), ...own },
      errorFor(type),
    ),
  )
  return headers
}

/** The scheme of a request; undefined without a header, and for several. */
function usedScheme([header, second]: readonly string[]): string | undefined {
  return header === undefined || second !== undefined ? undefined : parseAuthorization(header).scheme
}

/** The token types with one of these schemes. */
export const ofSchemes = (
  tokenTypes: readonly TokenType[],
  schemes: readonly string[],
): readonly TokenType[] =>
  tokenTypes.filter((type) => schemes.some((scheme) => isSameScheme(scheme, type.scheme)))
