import { type Field, type Fields, kind, usual } from '../primitives/schema'
import { isRecord, isText } from '../primitives/values'
import { isQuotable, isSameScheme, isToken, parseAuthorization } from '../protocol/http-authentication'
import type { OAuthError, Observed } from '../protocol/oauth-error'
import { refusedBy } from '../protocol/refusals'
import { formatScope, type Scope } from '../protocol/scope'
import { challengeOfType, reservedAttributes, type TokenType } from '../protocol/token-type'

/** What a host may set in the challenges of a guard. */
export interface ChallengeOptions {
  /** The protection space (RFC 9110 11.5). Default `oauth`. */
  readonly realm?: string
  /**
   * Further attributes, such as `{ acr_values: 'urn:example:mfa' }`. A guard adds its own to those of the option
   * `guards`.
   */
  readonly attributes?: Readonly<Record<string, string>>
}

export interface Challenge {
  readonly realm: string
  /** By name in lower case (RFC 9110 11.2). */
  readonly attributes: ReadonlyMap<string, readonly [name: string, value: string]>
  /** RFC 9728 5.1. */
  readonly resourceMetadata?: string | undefined
}

export const usualChallenge: Challenge = { realm: 'oauth', attributes: new Map() }

export const challengeFields = ({ realm, attributes }: Challenge) =>
  ({
    realm: usual(realm, kind(isQuotable, `must be ${quotable}.`)),
    attributes: attributesBeside(attributes),
  }) satisfies Fields<ChallengeOptions>

const aTableOfTexts = kind(isRecord, "must be an object of names and texts, as in { a: 'b' }.")

const attributesBeside =
  (defaults: Challenge['attributes']): Field<Challenge['attributes']> =>
  (given, at, key) => {
    const attributes = new Map(defaults)
    const names = new Set<string>()
    for (const [name, value] of Object.entries(usual({}, aTableOfTexts)(given, at, key))) {
      const folded = name.toLowerCase()
      const wrong = (message: string) => at.wrong(`${key}.${name}`, message)
      if (!isToken(name)) at.wrong(key, 'must have names that are tokens (RFC 9110 5.6.2).')
      else if (reservedAttributes.includes(folded)) wrong('is an attribute that the guard itself sets.')
      else if (names.has(folded)) wrong('occurs twice: letter case does not count (RFC 9110 11.2).')
      else if (isQuotable(value)) attributes.set(folded, [name, value])
      else wrong(`must be ${quotable}.`)
      names.add(folded)
    }
    return attributes
  }

const quotable = 'a text of printable ASCII without quotes and backslashes'

/** RFC 6750 3, RFC 9728 5.1 */
function writeChallenge(
  scheme: string,
  { realm, attributes, resourceMetadata }: Challenge,
  { scope, ...own }: ChallengeAttributes,
  error: ChallengeAttributes,
): string {
  const further = new Map(attributes)
  for (const [name, value] of Object.entries(own)) further.set(name.toLowerCase(), [name, value])
  const all = [
    ['realm', realm],
    ['scope', scope],
    ...Object.entries(error),
    ['resource_metadata', resourceMetadata],
    ...further.values(),
  ]
  const written = all.flatMap(([name, value]) => (value === undefined ? [] : [`${name}="${value}"`]))
  return `${scheme} ${written.join(', ')}`
}

type ChallengeAttributes = Readonly<Record<string, string>>

export interface Challenged {
  readonly own: ChallengeAttributes
  readonly error: ChallengeAttributes
  readonly authorization: readonly string[]
  readonly schemes?: readonly string[] | undefined
}

/** RFC 9110 11.6.1: many clients cannot parse a list. */
export function schemeChallenges(
  every: readonly TokenType[],
  challenge: Challenge,
  { own, error, authorization, schemes = every.map(({ scheme }) => scheme) }: Challenged,
): Record<string, string | string[]> {
  const tokenTypes = every.filter(({ scheme }) => schemes.some((one) => isSameScheme(one, scheme)))
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

export const badToken = (reason: string, scope: Scope, observed?: Observed): OAuthError =>
  refusedBy(reason, 'token_invalid', observed, { challenge: scopeIn(scope) })

/** @param sent `aud`, as anything may have written it. */
export function otherAudience(sent: unknown, expected: readonly string[]): Observed {
  const [only = 'none', second] = [sent ?? []].flat().filter(isText)
  return { sent: second === undefined ? only : [sent].flat().filter(isText), expected }
}

export const scopeIn = (scope: Scope): { readonly scope?: string } =>
  scope.length === 0 ? {} : { scope: formatScope(scope) }
