import { type GrantedToken, type NewAccessToken, unrestricted } from '../authorization/transition'
import type { FoundAccess } from '../authorization/lookup'
import { isRecord, isTexts } from '../protocol/configuration'
import {
  dataOf,
  type Extension,
  type ExtensionData,
  type ExtensionRequest,
  type ExchangedToken,
  isKeepable,
  type Json,
  keepableCure,
  keptBy,
  type TokenRestriction,
} from '../protocol/extension'
import { invalidScope, OAuthError } from '../protocol/oauth-error'
import { covers, distinct, type Scope } from '../protocol/scope'

/** A token request after the server has read the grant type. */
export interface GrantRequest extends ExtensionRequest {
  readonly grantType: string
  /** The scope that the request names; undefined if it names none, and if its grant type does not read the parameter. */
  readonly requestedScope?: Scope | undefined
}

/**
 * Calls each extension for the access token of a request, in the order of the option `extensions`. Each extension gets
 * the scope that the previous extensions left.
 *
 * @returns the token, or the refusal of an extension.
 * @throws TypeError if an extension returns a result that would widen the grant, or that a store cannot keep.
 */
export function restrictToken(
  extensions: readonly Extension[],
  request: GrantRequest,
  granted: GrantedToken,
): NewAccessToken | OAuthError {
  let token = unrestricted(granted)
  for (const extension of extensions) {
    const restriction = askExtension(extension, request, granted, token.scope)
    if (restriction instanceof OAuthError) return restriction
    if (restriction === undefined) continue
    token = narrow(token, extension.name, restriction)
    if (token.scope.length === 0)
      return invalidScope('scope_exceeded', 'The scope is not available for this request.')
  }
  return token
}

function narrow(token: NewAccessToken, name: string, restriction: TokenRestriction): NewAccessToken {
  const { scope = token.scope, lifetime, tokenData, authorizationData } = restriction
  const withOwn = (data: ExtensionData, own: Json | undefined) =>
    own === undefined ? data : { ...data, [name]: own }
  return {
    scope: distinct(scope),
    lifetime: lifetime === undefined ? token.lifetime : Math.min(lifetime, token.lifetime ?? lifetime),
    extensionData: withOwn(token.extensionData, tokenData),
    authorizationData: withOwn(token.authorizationData, authorizationData),
  }
}

function askExtension(
  extension: Extension,
  { client, parameters, grantType, requestedScope }: GrantRequest,
  { subject, extensionData, begins, subjectToken, audience = [] }: GrantedToken,
  scope: Scope,
): TokenRestriction | OAuthError | undefined {
  const authorizationData = dataOf(extension.name, extensionData)
  let restriction: unknown
  try {
    restriction = extension.atTokenRequest?.({
      client,
      parameters,
      grantType,
      subject,
      scope,
      requestedScope,
      authorizationData,
      begins,
      subjectToken: subjectToken && exchangedToken(extension.name, subjectToken),
      audience,
    })
  } catch (refusal) {
    if (refusal instanceof OAuthError) return refusal
    throw refusal
  }
  if (restriction === undefined) return undefined
  requireRestriction(restriction, extension.name, { scope, begins })
  return restriction
}

function exchangedToken(name: string, found: FoundAccess): ExchangedToken {
  return { scope: found.access.scope, ...keptBy(name, found) }
}

// Hosts write extensions, also in JavaScript. A mistake must never widen the approval of the owner.
function requireRestriction(
  restriction: unknown,
  name: string,
  { scope, begins }: Pick<GrantedToken, 'scope' | 'begins'>,
): asserts restriction is TokenRestriction {
  const wrong = (what: string): never => {
    throw new TypeError(`The extension "${name}" returned a wrong result for a token request: ${what}`)
  }
  // An asynchronous hook returns a promise. Its refusal would come after the decision.
  if (!isRecord(restriction) || 'then' in restriction)
    return wrong('it must be an object or undefined, not a promise.')
  const { scope: narrowed, lifetime, tokenData, authorizationData, ...others } = restriction
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) wrong(`"${unknown}" is not known here.`)
  if (narrowed !== undefined && !(isTexts(narrowed) && covers(scope, narrowed)))
    wrong('scope must be a list of scope tokens, all within the scope of the request.')
  if (lifetime !== undefined && !(Number.isSafeInteger(lifetime) && Number(lifetime) > 0))
    wrong('lifetime must be whole seconds, 1 or more.')
  if (tokenData !== undefined && !isKeepable(tokenData)) wrong(`tokenData ${keepableCure}`)
  if (authorizationData === undefined) return
  if (!isKeepable(authorizationData)) wrong(`authorizationData ${keepableCure}`)
  if (!begins) wrong('authorizationData is only allowed if the authorization begins with the request.')
}
