import { isSameScheme, parseAuthorization } from '../protocol/http-authentication'
import { challengeOfType, type TokenType } from '../protocol/token-type'
import { type Challenge, type ChallengeAttributes, writeChallenge } from '../resource-server/challenge'

interface Challenged {
  readonly own: ChallengeAttributes
  readonly error: ChallengeAttributes
  readonly authorization: readonly string[]
}

/** A line for each scheme: many clients cannot parse a list (RFC 9110 11.6.1). */
export function schemeChallenges(
  tokenTypes: readonly TokenType[],
  challenge: Challenge,
  { own, error, authorization }: Challenged,
): Record<string, string | string[]> {
  const used = usedScheme(authorization)
  const isKnown = tokenTypes.some(({ scheme }) => used !== undefined && isSameScheme(scheme, used))
  // RFC 9449 7.2: only the challenge of the used scheme has the error.
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

const usedScheme = ([header, second]: readonly string[]): string | undefined =>
  header === undefined || second !== undefined ? undefined : parseAuthorization(header).scheme

export const ofSchemes = (
  tokenTypes: readonly TokenType[],
  schemes: readonly string[],
): readonly TokenType[] =>
  tokenTypes.filter((type) => schemes.some((scheme) => isSameScheme(scheme, type.scheme)))
