import * as devices from './devices'
import * as grants from './grants'
import * as requests from './requests'
import * as resources from './resources'

/** One parameter of one request, and what comes of its spellings. */
export interface Row {
  readonly request: string
  readonly kind: requests.Kind
  readonly name: string
  /** Where it is not there, or without a value. */
  readonly omitted: string
  /** Where it is there twice, or cannot be decoded. */
  readonly faulty: string
  /** Whether it may be there several times (RFC 8707 2). */
  readonly mayRepeat: boolean
  /** Where it has another value. */
  readonly other: string
}

const page = 'page 400 invalid_request'
const redirect = 'redirect invalid_request'
const invalid = '400 invalid_request'
const grant = '400 invalid_grant'
const stranger = '401 invalid_client'
const scope = '400 invalid_scope'
const target = '400 invalid_target'

const repeated: ReadonlySet<string> = new Set(['resource'])

// A parameter of an endpoint, a new one too, is a row here: request, name, and what comes of it omitted, faulty, other.
const rows: readonly (readonly [string, requests.Kind, string, string, string, string])[] = [
  [
    'authorization',
    requests.authorization,
    'response_type',
    redirect,
    redirect,
    'redirect unsupported_response_type',
  ],
  ['authorization', requests.authorization, 'client_id', page, page, page],
  ['authorization', requests.authorization, 'redirect_uri', 'question', page, page],
  [
    'authorization',
    requests.authorization,
    'scope',
    'redirect invalid_scope',
    redirect,
    'redirect invalid_scope',
  ],
  ['authorization', requests.authorization, 'state', 'question', redirect, 'question'],
  ['authorization', requests.authorization, 'response_mode', 'question', redirect, redirect],
  ['request object', requests.requestObject, 'request', redirect, page, 'page 400 invalid_request_object'],
  ['authorization', requests.authorization, 'code_challenge', redirect, redirect, redirect],
  ['authorization', requests.authorization, 'code_challenge_method', redirect, redirect, redirect],
  ['decision', requests.decision, 'authorization_request', page, page, page],
  ['decision', requests.decision, 'decision', page, page, page],
  ['code', requests.code, 'grant_type', invalid, invalid, '400 unsupported_grant_type'],
  ['code', requests.code, 'code', invalid, invalid, grant],
  ['code', requests.code, 'redirect_uri', grant, invalid, grant],
  ['code', requests.code, 'client_id', stranger, invalid, stranger],
  ['code', requests.code, 'code_verifier', grant, invalid, grant],
  ['refresh', requests.refresh, 'refresh_token', invalid, invalid, grant],
  ['refresh', requests.refresh, 'scope', 'tokens', invalid, scope],
  ['client credentials', requests.itself, 'grant_type', invalid, invalid, '400 unsupported_grant_type'],
  ['client credentials', requests.itself, 'client_id', invalid, invalid, stranger],
  ['client credentials', requests.itself, 'client_secret', stranger, invalid, stranger],
  ['client credentials', requests.itself, 'scope', scope, invalid, scope],
  ['password', grants.password, 'username', invalid, invalid, grant],
  ['password', grants.password, 'password', invalid, invalid, grant],
  ['JWT bearer', grants.jwtAssertion, 'assertion', invalid, invalid, grant],
  ['JWT bearer', grants.jwtAssertion, 'scope', scope, invalid, scope],
  ['SAML bearer', grants.samlAssertion, 'assertion', invalid, invalid, grant],
  ['SAML bearer', grants.samlAssertion, 'scope', scope, invalid, scope],
  ['exchange', grants.exchange, 'subject_token', invalid, invalid, invalid],
  ['exchange', grants.exchange, 'subject_token_type', invalid, invalid, invalid],
  ['exchange', grants.exchange, 'actor_token', invalid, invalid, invalid],
  ['exchange', grants.exchange, 'actor_token_type', invalid, invalid, invalid],
  ['exchange', grants.exchange, 'requested_token_type', 'tokens', invalid, invalid],
  ['exchange', grants.exchange, 'scope', 'tokens', invalid, scope],
  [
    'authorization',
    resources.authorization,
    'resource',
    'redirect invalid_target',
    redirect,
    'redirect invalid_target',
  ],
  ['code', resources.code, 'resource', 'tokens', invalid, target],
  ['refresh', resources.refresh, 'resource', 'tokens', invalid, target],
  ['client credentials', resources.itself, 'resource', target, invalid, target],
  ['exchange', resources.exchange, 'resource', 'tokens', invalid, target],

  ['device', devices.device, 'client_id', invalid, invalid, stranger],
  ['device', devices.device, 'client_secret', stranger, invalid, stranger],
  ['device', devices.device, 'scope', scope, invalid, scope],
  ['device poll', grants.devicePoll, 'device_code', invalid, invalid, grant],
  ['device entry', devices.deviceEntry, 'user_code', 'form 400', page, 'form 400'],
  ['device entry', devices.deviceEntry, 'form', 'form 400', page, 'form 400'],
  ['revocation', requests.revocation, 'token', invalid, invalid, 'done'],
  ['revocation', requests.revocation, 'token_type_hint', 'done', 'done', 'done'],
  ['revocation', requests.revocation, 'client_id', invalid, invalid, stranger],
  ['revocation', requests.revocation, 'client_secret', stranger, invalid, stranger],
  ['introspection', requests.introspection, 'token', invalid, invalid, 'inactive'],
  ['introspection', requests.introspection, 'token_type_hint', 'active', 'active', 'active'],
  ['introspection', requests.introspection, 'client_id', invalid, invalid, stranger],
  ['introspection', requests.introspection, 'client_secret', stranger, invalid, stranger],
]

export const table: readonly Row[] = rows.map(([request, kind, name, omitted, faulty, other]) => ({
  request,
  kind,
  name,
  omitted,
  faulty,
  mayRepeat: repeated.has(name),
  other,
}))
