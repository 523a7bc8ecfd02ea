import { type Field, kind, optional } from '../primitives/schema'
import { isText } from '../primitives/values'

const inPlugIns = (name: string) => `add ${name} to the option plugIns`
const inGrantTypes = (name: string) => `add ${name} to the option grantTypes`
const openId = inPlugIns('openIdConnect()')
const requests = inPlugIns('requestObjects()')
const implicit = 'add implicit() to the option responseTypes'
const grant = 'urn:ietf:params:oauth:grant-type:'

/** Registration members of plug-ins, and what adds them. */
const members: Readonly<Record<string, string>> = {
  subject_type: openId,
  sector_identifier_uri: openId,
  id_token_signed_response_alg: openId,
  default_max_age: openId,
  require_auth_time: openId,
  default_acr_values: openId,
  initiate_login_uri: openId,
  backchannel_logout_uri: openId,
  backchannel_logout_session_required: openId,
  jwks: requests,
  jwks_uri: requests,
  request_object_signing_alg: requests,
  require_signed_request_object: requests,
  require_pushed_authorization_requests: inPlugIns('pushedAuthorizationRequests()'),
  dpop_bound_access_tokens: inPlugIns('dpop()'),
}

/** Grant types, response types, token types, methods of client authentication and formats. */
const offers: ReadonlyMap<string, string> = new Map([
  [`${grant}device_code`, inPlugIns('deviceAuthorization()')],
  [`${grant}token-exchange`, inGrantTypes('tokenExchange()')],
  [`${grant}jwt-bearer`, inGrantTypes('jwtBearer()')],
  [`${grant}saml2-bearer`, inGrantTypes('saml2Bearer()')],
  ['password', inGrantTypes('password()')],
  ['implicit', implicit],
  ['token', implicit],
  ['mac', 'add mac() to the option tokenTypes'],
  ['DPoP', inPlugIns('dpop()')],
  ['private_key_jwt', 'add privateKeyJwt() to the option clientAuthenticationMethods'],
  ['at+jwt', inPlugIns('jwtAccessTokens()')],
])

/** The last sentence of a message about an unknown name; empty if nothing adds it. */
export function cureForOffer(name: unknown): string {
  const cure = typeof name === 'string' ? offers.get(name) : undefined
  return cure === undefined ? '' : ` To have it, ${cure}.`
}

/** Each with the mistake that it is: no registration may have it. */
export const membersOfOthers = (known: readonly string[]): readonly (readonly [string, string])[] =>
  Object.entries(members)
    .filter(([name]) => !known.includes(name))
    .map(([name, cure]) => [name, `belongs to a plug-in that is off: ${cure}.`])

export function anOfferedName(what: string, known: readonly string[] | undefined): Field<string | undefined> {
  const cure = known === undefined ? `must be the name of ${what}.` : `must be one of ${known.join(', ')}.`
  const isOffered = (value: unknown): value is string => isText(value) && known?.includes(value) !== false
  return optional((given, at, name) => kind(isOffered, cure + cureForOffer(given))(given, at, name))
}
