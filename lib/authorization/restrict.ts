import { type GrantedToken, type NewAccessToken, unrestricted } from './transition'
import type { Client } from '../protocol/client'
import { aText, aWhole, yesOrNo } from '../primitives/fields'
import { exactShape, optional, requireShape } from '../primitives/schema'
import type {
  Extension,
  ExtensionRequest,
  ExtensionTokenRequest,
  TokenRestriction,
} from '../protocol/extension'
import { dataOf, type Evidence, noEvidence, ownDataOf, withOwn } from '../protocol/extension-data'
import { keepable } from '../protocol/json'
import { OAuthError } from '../protocol/oauth-error'
import { covers, distinct, type Scope, scopeRefusal, scopeWithin, unavailableScope } from '../protocol/scope'

interface GrantRequest extends ExtensionRequest {
  readonly grantType: string
  readonly requestedScope?: Scope | undefined
  readonly evidence?: Evidence
}

export interface TokenRestrictor {
  readonly name: string
  readonly restrict: (request: ExtensionTokenRequest) => TokenRestriction | undefined
}

/** @param isTrusted for the package's own extensions. */
export function restrictorsOf(
  extensions: readonly Extension[],
  isTrusted: (extension: Extension) => boolean,
): readonly TokenRestrictor[] {
  return extensions.flatMap((extension) => {
    const { name } = extension
    const restrict = extension.issue?.bind(extension)
    if (restrict === undefined) return []
    return [{ name, restrict: isTrusted(extension) ? restrict : checked(name, restrict) }]
  })
}

function checked(name: string, restrict: TokenRestrictor['restrict']): TokenRestrictor['restrict'] {
  return (request) => {
    const restriction: unknown = restrict(request)
    if (restriction === undefined) return undefined
    const subject = `The extension "${name}" returned a wrong result for a token request:`
    return requireShape(restrictionShape, restriction, subject, request.scope)
  }
}

/**
 * First by the client's scope of now, then by each extension in its order.
 *
 * @throws TypeError if an extension would widen the grant, or returns data that a store cannot hold.
 */
export function restrictToken(
  restrictors: readonly TokenRestrictor[],
  request: GrantRequest,
  granted: GrantedToken,
): NewAccessToken | OAuthError {
  const scope = granted.begins ? granted.scope : stillAllowed(granted.scope, request.client)
  if (scope instanceof OAuthError) return scope
  let token = unrestricted({ scope })
  for (const restrictor of restrictors) {
    const restriction = ask(restrictor, request, granted, token.scope)
    if (restriction instanceof OAuthError) return restriction
    if (restriction === undefined) continue
    const before = token.scope
    token = narrow(token, restrictor.name, restriction)
    if (token.scope.length === 0) return unavailableScope(before)
  }
  return token
}

/**
 * The record holds the whole scope: what a registration loses and gets back counts again. A grant that begins
 * is up to its grant type.
 */
function stillAllowed(scope: Scope, client: Client): Scope | OAuthError {
  if (covers(client.scope, scope)) return scope
  const left = scope.filter((token) => client.scope.includes(token))
  if (left.length > 0) return left
  return scopeRefusal('scope_withdrawn', scope, client.scope, { 'scope of the client': client.scope })
}

function narrow(token: NewAccessToken, name: string, restriction: TokenRestriction): NewAccessToken {
  const { scope = token.scope, lifetime, tokenData, authorizationData, provesKey } = restriction
  return {
    scope: distinct(scope),
    lifetime: lifetime === undefined ? token.lifetime : Math.min(lifetime, token.lifetime ?? lifetime),
    extensionData: withOwn(name, tokenData, token.extensionData),
    authorizationData: withOwn(name, authorizationData, token.authorizationData),
    tokenType: oneChoice('tokenType', name, token, restriction),
    format: oneChoice('format', name, token, restriction),
    provesKey: provesKey === true || token.provesKey === true,
  }
}

// Another type could lack a proof that the extension relies on.
function oneChoice(
  member: 'tokenType' | 'format',
  name: string,
  { [member]: before }: NewAccessToken,
  { [member]: chosen = before }: TokenRestriction,
): string | undefined {
  if (before === undefined || before === chosen) return chosen
  throw new TypeError(
    `The extension "${name}" returned the ${member} "${chosen}" for a token request, but an extension before it chose "${before}".`,
  )
}

function ask(
  { name, restrict }: TokenRestrictor,
  { client, parameters, grantType, requestedScope, evidence = noEvidence }: GrantRequest,
  { subject, extensionData, begins = false, subjectToken, audience = [] }: GrantedToken,
  scope: Scope,
): TokenRestriction | OAuthError | undefined {
  const authorizationData = dataOf(name, extensionData)
  try {
    return restrict({
      client,
      parameters,
      grantType,
      subject,
      scope,
      requestedScope,
      authorizationData,
      begins,
      subjectToken: subjectToken && { scope: subjectToken.access.scope, ...ownDataOf(name, subjectToken) },
      audience,
      evidence: evidence === noEvidence ? undefined : evidence.get(name),
    })
  } catch (refusal) {
    if (refusal instanceof OAuthError) return refusal
    throw refusal
  }
}

// A mistake of a host must never widen the approval of the owner.
const restrictionShape = exactShape<TokenRestriction, Scope>({
  scope: scopeWithin('the scope of the request'),
  lifetime: optional(aWhole(1, Number.MAX_SAFE_INTEGER)),
  tokenData: optional(keepable),
  authorizationData: optional(keepable),
  tokenType: optional(aText),
  format: optional(aText),
  provesKey: optional(yesOrNo),
})
