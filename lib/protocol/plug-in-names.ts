import { type Field, kind } from '../primitives/schema'
import { isText, isTexts } from '../primitives/values'

const inPlugins = (name: string) => `add ${name} to the option plugins`
const openId = inPlugins('openIdConnect()')
const requests = inPlugins('requestObjects()')
const keys = `${requests}; the keys of private_key_jwt stand in credentials.private_key_jwt`
const implicit = inPlugins('implicit()')
const grant = 'urn:ietf:params:oauth:grant-type:'

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
  jwks: keys,
  jwks_uri: keys,
  request_object_signing_alg: requests,
  require_signed_request_object: requests,
  require_pushed_authorization_requests: inPlugins('pushedAuthorizationRequests()'),
  dpop_bound_access_tokens: inPlugins('dpop()'),
}

const offers: ReadonlyMap<string, string> = new Map([
  [`${grant}device_code`, inPlugins('deviceAuthorization()')],
  [`${grant}token-exchange`, inPlugins('tokenExchange()')],
  [`${grant}jwt-bearer`, inPlugins('jwtBearer()')],
  [`${grant}saml2-bearer`, inPlugins('saml2Bearer()')],
  ['password', inPlugins('password()')],
  ['implicit', implicit],
  ['token', implicit],
  ['mac', inPlugins('mac()')],
  ['DPoP', inPlugins('dpop()')],
  ['private_key_jwt', inPlugins('privateKeyJwt()')],
  ['at+jwt', inPlugins('jwtAccessTokens()')],
])

/** The last sentence of a message about an unknown name. */
export function cureForOffer(name: unknown): string {
  const cure = typeof name === 'string' ? offers.get(name) : undefined
  return cure === undefined ? '' : ` To have it, ${cure}.`
}

export const membersOfOthers = (known: readonly string[]): readonly (readonly [string, string])[] =>
  Object.entries(members).flatMap(([name, cure]) =>
    known.includes(name) ? [] : [[name, `belongs to a plug-in that is off: ${cure}.`] as const],
  )

/** Undefined `known`: each name is right. */
export const anOfferedName =
  (what: string, known: readonly string[] | undefined): Field<string | undefined> =>
  (given, at, name) => {
    if (given === undefined || (isText(given) && known?.includes(given) !== false)) return given
    const cure = known === undefined ? `must be the name of ${what}.` : `must be one of ${known.join(', ')}.`
    at.wrong(name, cure + cureForOffer(given))
    return undefined
  }

export function offeredNames<Context>(
  what: string,
  offer: (context: Context) => readonly string[] | undefined,
  ownName = (name: string, _context: Context): string => name,
): Field<readonly string[] | undefined, Context> {
  const texts = kind(isTexts, `must be a list of ${what}.`)
  return (given, at, name) => {
    const known = offer(at.context)
    const listed = texts(given, at, name)?.map((each) => ownName(each, at.context))
    for (const each of listed ?? [])
      if (known?.includes(each) === false)
        at.wrong(
          name,
          `lists "${each}", which this server does not offer; it offers ${known.join(', ') || 'none'}.${cureForOffer(each)}`,
        )
    return listed && Object.freeze(listed)
  }
}
