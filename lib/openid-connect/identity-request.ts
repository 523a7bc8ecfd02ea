import { isRecord, isText, isTexts } from '../primitives/values'
import type { Client } from '../protocol/client'
import type { Json } from '../protocol/json'
import type { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import type { ExtensionAuthorizationRequest } from '../protocol/extension'
import type { ResourceOwner } from '../protocol/resource-owner'
import { claimsAtMost, isClaimName } from '../protocol/scope'
import type { ScopeClaims } from './owner-claims'

/** OpenID Connect Core 3.1.2.1, 5.5, 6 and 7.2.1. */
export const identityParameters = 'nonce claims id_token_hint request request_uri registration'.split(' ')

interface IdentityRequest {
  readonly nonce: string | undefined
  readonly userInfo: readonly string[]
  readonly idToken: readonly string[]
  /** The page names them. */
  readonly beyondScope: readonly string[]
  /** Undefined: any owner. */
  readonly subject: string | undefined
  /** The login must meet one, if there are any. */
  readonly acrValues: readonly string[]
}

export const claimsOfIdTokens = 'sub iss aud exp iat auth_time acr amr nonce at_hash'.split(' ')

const longestNonce = 1024
const longestClaims = 4096

/** Undefined for a request of OAuth alone. */
export function parseIdentityRequest(
  { parameters, redirectUri, scope }: ExtensionAuthorizationRequest,
  takesClaims: boolean,
  { all: claimsOf }: ScopeClaims,
): IdentityRequest | undefined {
  for (const name of ['request', 'request_uri', 'registration'] as const)
    if (parameters.get(name) !== undefined)
      throw refused(name === 'request' ? 'parameter_not_supported' : `parameter_not_supported/${name}`)
  if (!scope.includes('openid')) return undefined
  // OpenID Connect Core 3.1.2.1: no registration stands in for it. A device has none.
  if (redirectUri !== undefined && parameters.get('scope') !== undefined) parameters.require('redirect_uri')
  const nonce = parameters.get('nonce')
  if (nonce !== undefined && nonce.length > longestNonce)
    throw refused('parameter_too_long', { parameter: 'nonce' })
  const claims = takesClaims ? claimsIn(parameters.get('claims')) : {}
  const ofIdToken = claims['id_token']
  const [userInfo, idToken] = [namesIn(claims['userinfo']), namesIn(ofIdToken)]
  const known = new Set([...claimsOfIdTokens, ...claimsOf(scope)])
  const beyondScope = [...new Set([...userInfo, ...idToken])].filter((name) => !known.has(name))
  const [subject, acrValues] = [subjectIn(ofIdToken), acrValuesIn(ofIdToken)]
  return { nonce, userInfo, idToken, beyondScope, subject, acrValues }
}

function claimsIn(text: string | undefined): Readonly<Record<string, unknown>> {
  if (text === undefined) return {}
  if (text.length > longestClaims) throw refused('parameter_too_long', { parameter: 'claims' })
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return value
  } catch {}
  throw malformedClaims()
}

const malformedClaims = () => refused('parameter_malformed/value', { parameter: 'claims' })

const memberOf = (object: unknown, name: string): unknown => (isRecord(object) ? object[name] : undefined)

// OpenID Connect Core 3.1.2.2: no answer for another owner.
function subjectIn(idToken: unknown): string | undefined {
  const value = memberOf(memberOf(idToken, 'sub'), 'value')
  if (value === undefined || isText(value)) return value
  throw malformedClaims()
}

// OpenID Connect Core 5.5.1.1: a login that meets no essential value has failed.
function acrValuesIn(idToken: unknown): readonly string[] {
  const acr = memberOf(idToken, 'acr')
  if (memberOf(acr, 'essential') !== true) return []
  const [value, values] = [memberOf(acr, 'value'), memberOf(acr, 'values')]
  const all: unknown = values ?? (value === undefined ? [] : [value])
  if (isTexts(all)) return all
  throw malformedClaims()
}

// OpenID Connect Core 5.5: ignores unknown claims.
const namesIn = (member: unknown): readonly string[] =>
  isRecord(member) ? Object.keys(member).filter(isClaimName).slice(0, claimsAtMost) : []

/** By a scope, or by name on the page. */
export const approvedClaims = (
  names: readonly string[],
  request: IdentityRequest | undefined,
  ofScope: readonly string[],
): readonly string[] => {
  const approved = new Set([...(request?.beyondScope ?? []), ...ofScope])
  return names.filter((name) => approved.has(name))
}

export function identityDataOf(request: IdentityRequest): Json {
  const members: [string, string | readonly string[] | undefined][] = Object.entries(request)
  return Object.fromEntries(members.flatMap(([name, value]) => (value?.length ? [[name, value]] : [])))
}

export function identityRequestIn(data: Json | undefined): IdentityRequest | undefined {
  if (!isRecord(data)) return undefined
  const { nonce, userInfo, idToken, beyondScope, subject, acrValues } = data
  return {
    nonce: isText(nonce) ? nonce : undefined,
    userInfo: isTexts(userInfo) ? userInfo : [],
    idToken: isTexts(idToken) ? idToken : [],
    beyondScope: isTexts(beyondScope) ? beyondScope : [],
    subject: isText(subject) ? subject : undefined,
    acrValues: isTexts(acrValues) ? acrValues : [],
  }
}

export function requireAuthTime(client: Client, login: Pick<ResourceOwner, 'authTime'> | undefined): void {
  if (login?.authTime !== undefined || client.members['require_auth_time'] !== true) return
  const cause = new Error(
    'The registration of the client has require_auth_time, so the option resourceOwner must return authTime.',
  )
  throw refused('login_time_unknown', {}, { cause })
}

/** Undefined if this owner may answer. Subjects are as the client knows them. */
export function refusalOf(
  owner: ResourceOwner,
  client: Client,
  hinted: string | undefined,
  request: IdentityRequest | undefined,
): OAuthError | undefined {
  const { subject, acr } = owner
  if (request !== undefined) {
    // OpenID Connect Core 2.
    if (!/^\p{ASCII}{1,255}$/u.test(subject))
      throw new TypeError(
        'The option resourceOwner must return a subject of at most 255 ASCII characters for a request of OpenID Connect.',
      )
    requireAuthTime(client, owner)
  }
  if ([hinted, request?.subject].some((named) => named !== undefined && named !== subject))
    return refused('owner_not_hinted')
  const { acrValues = [] } = request ?? {}
  if (acrValues.length === 0 || (acr !== undefined && acrValues.includes(acr))) return undefined
  return refused('acr_not_met')
}
