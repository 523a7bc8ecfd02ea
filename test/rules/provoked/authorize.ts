import type { Response } from 'supertest'
import { implicit } from '../../../lib/index'
import { formPost, pushedAuthorizationRequests, requestObjects } from '../../../lib/paths/pushed-requests'
import { bent, photoBook, photoPrint } from '../../support/flows/clients'
import { consentFormOf } from '../../support/flows/consent-form'
import {
  authorizationRequest,
  type Fields,
  formOf,
  type Headers,
  type RepeatedFields,
} from '../../support/flows/flow'
import { workspaceQuestion } from '../../support/flows/owner-decision'
import {
  objectClaims,
  ownKey,
  requestObject,
  signingPrint,
  strangeKey,
} from '../../support/flows/request-object'
import { area, atNextSave, once, open, type Opened, type Options, registered, twice } from './provoke'
import { altered } from '../../support/altered'
import { withPlugins } from '../../support/with-plug-ins'

const asked = authorizationRequest(photoBook)
const native = bent(photoBook, { client_id: 'native', redirect_uris: ['com.example.app:/callback'] })
const two = bent(photoBook, { client_id: 'two', redirect_uris: ['https://a.example/', 'https://b.example/'] })
const disabled = bent(photoBook, { client_id: 'disabled', disabled: true })
const [ofNative, ofPrint] = [authorizationRequest(native), authorizationRequest(photoPrint)]
const fromElsewhere = { 'Sec-Fetch-Site': 'cross-site' }

/** Requests of Alice, and decisions about them. */
function authorizeStage(options: Options = {}) {
  const clients = registered(photoBook, photoPrint, native, two, disabled)
  const set = open({ clients, ...options, plugins: withPlugins([implicit(), formPost()], options.plugins) })
  const ask = (bend: RepeatedFields = {}) => set.flow.ask({ ...asked, ...bend }, 'alice')
  const decide = async (bend: Fields, owner = 'alice', headers: Headers = {}) => {
    const { fields } = consentFormOf(await ask(), '/authorize')
    return set.flow.submit('/authorize', { ...fields, decision: 'approve', ...bend }, owner, headers)
  }
  /** A decision after something has happened. */
  const decideAfter = async (happens: (set: Opened, page: Response) => unknown, decision = 'approve') => {
    const page = await set.flow.ask(ofPrint, 'alice')
    await happens(set, page)
    return set.flow.decide(page, decision, 'alice')
  }
  return { ...set, ask, decide, decideAfter }
}

/** The login comes back for the third time. */
function returned(options: Options, bend: Fields = {}, headers: Headers = {}, session: object = {}) {
  const { flow, now } = open(
    { resourceOwner: () => undefined, ...options },
    {
      mount: (app, oauth) => {
        app.use((req, _res, next) => next(void Object.assign(req, session)), oauth.router())
      },
    },
  )
  const query = formOf({ ...asked, ...bend, login_returns: `3.${now().toString(36)}` })
  return flow.open(`/authorize?${query}`, undefined, headers)
}
const silently = { explainRefusals: false }
const asking = { choices: () => workspaceQuestion('w1', 'w2') }
const loggedIn = { resourceOwner: () => 'alice' }
const login = { prompt: 'login' }
const remembering = { authorizations: true, rememberConsent: true }
const brokenSession = () => {
  throw new Error('The session is broken.')
}

export const authorize = area('the authorization endpoint', authorizeStage, {
  client_unknown: ({ ask }) => ask({ client_id: 'nobody' }),
  client_disabled: ({ ask }) => ask({ client_id: 'disabled' }),
  redirect_uri_missing: ({ ask }) => ask({ client_id: 'two', redirect_uri: [] }),
  redirect_uri_mismatch: ({ ask }) => ask({ redirect_uri: 'https://book.example/' }),
  'parameter_missing/request': ({ ask }) => ask({ response_type: undefined, request_uri: 'urn:x' }),
  response_type_unknown: ({ ask }) => ask({ response_type: 'none' }),
  response_type_not_registered: ({ ask }) => ask({ response_type: 'token' }),
  response_mode_unsupported: ({ ask }) => ask({ response_mode: 'web_message' }),
  'response_mode_unsupported/redirect_uri': ({ ask }) => ask({ ...ofNative, response_mode: 'form_post' }),
  scope_missing: ({ ask }) => ask({ scope: '' }),
  scope_malformed: ({ ask }) => ask({ scope: '"' }),
  scope_not_allowed: ({ ask }) => ask({ scope: 'reports:write' }),
  pkce_challenge_missing: ({ ask }) => ask({ code_challenge: '' }),
  pkce_challenge_malformed: ({ ask }) => ask({ code_challenge: 'x' }),
  pkce_method_unsupported: ({ ask }) => ask({ code_challenge_method: 'plain' }),
  prompt_none_without_page: ({ ask }) => ask({ ...ofNative, prompt: 'none' }),
  prompt_none_without_answer: () => authorizeStage(asking).ask({ ...ofPrint, prompt: 'none' }),
  authorization_request_unknown: async ({ ask, flow }) => {
    const { authorization_request: token = '' } = consentFormOf(await ask(), '/authorize').fields
    const other = altered(token)
    return flow.submit('/authorize', { authorization_request: other, decision: 'approve' }, 'alice')
  },
  authorization_request_not_open: ({ decideAfter }) =>
    decideAfter(({ flow }, page) => flow.decide(page, 'approve', 'alice'), 'deny'),
  authorization_request_of_another_owner: ({ decide }) => decide({}, 'mallory'),
  authorization_request_expired: ({ decideAfter }) => decideAfter(({ clock }) => clock.advance(601)),
  owner_not_logged_in: async ({ ask, flow }) => flow.decide(await ask(), 'approve'),
  owner_denied: ({ decide }) => decide({ decision: 'deny' }),
  decision_unknown: ({ decide }) => decide({ decision: 'perhaps' }),
  decision_fields_missing: ({ flow }) => flow.submit('/authorize', { decision: 'approve' }, 'alice'),
  decision_scope_wrong: ({ decide }) => decide({ scope: 'reports:write' }),
  'decision_scope_wrong/malformed': ({ decide }) => decide({ scope: '"' }),
  decision_choice_wrong: ({ decide }) => decide({ choice: 'w1' }),
  decision_cross_site: ({ decide }) => decide({}, 'alice', fromElsewhere),
  'decision_cross_site/json': ({ flow }) =>
    flow.open(`/authorize?${formOf(asked)}`, 'alice', { ...fromElsewhere, Accept: 'application/json' }),
  'authorizations_revoked/request': () =>
    authorizeStage(remembering).decideAfter(({ oauth }) => oauth.authorizations.revokeAll('alice')),
  'authorizations_revoked/consent': async () => {
    const set = authorizeStage(remembering)
    const { flow, oauth } = set
    await flow.approve(photoPrint)
    atNextSave(set, async (save) => {
      const isSaved = await save()
      await oauth.authorizations.revoke('alice', 'photo-print')
      return isSaved
    })
    return flow.ask(ofPrint, 'alice')
  },
  consent_not_remembered: async () =>
    void (await authorizeStage({ ...remembering, authorizations: false }).decideAfter(({ store }) =>
      store.begin('fails', 'owner'),
    )),
  login_loop: () => returned(silently),
  'login_loop/no_session': () => returned({}),
  'login_loop/no_cookie': () => returned({}, {}, {}, { session: {} }),
  'login_loop/no_owner': () => returned({}, {}, { Cookie: 'a=b' }, { session: {} }),
  'login_loop/no_new_login': () => returned({ ...loggedIn, ...silently }, login),
  'login_loop/no_new_login_explained': () => returned(loggedIn, login),
  too_many_open_requests: () => twice(authorizeStage({ limits: { openRequests: once } }).ask),
  rate_limited: () => twice(authorizeStage({ limits: { networks: { authorization: once } } }).ask),
  'too_many_open_requests/logins': () => {
    const { ask, clock } = authorizeStage({ limits: { networks: { authorization: once } } })
    return twice(() => ask(login).finally(() => clock.advance(61)))
  },
  unexpected: () => authorizeStage({ resourceOwner: brokenSession }).ask(),
})

const objects = requestObjects({ maximumLifetime: 600 })
const pushing = pushedAuthorizationRequests()
const pushingOnce = pushedAuthorizationRequests({ limits: { client: once } })
const another = { name: 'another', resolve: async () => ({ parameters: 'client_id=another' }) }
const keyless = bent(photoPrint, { client_id: 'keyless' })
const mustPush = bent(photoPrint, { client_id: 'must-push', require_pushed_authorization_requests: true })
const mustSign = bent(signingPrint, { client_id: 'must-sign', require_signed_request_object: true })
const request_uri = 'urn:ietf:params:oauth:request_uri:x'
const deep: unknown = JSON.parse('['.repeat(40) + ']'.repeat(40))

/** A server that takes pushed requests and request objects. */
function objectStage(options: Options = {}) {
  const clients = registered(signingPrint, keyless, mustPush, mustSign, photoBook)
  const set = open({ clients, ...options, plugins: withPlugins([pushing, objects], options.plugins) })
  const ask = (bend: Fields) => set.flow.ask({ client_id: 'photo-print', ...bend }, 'alice')
  const bring = (claims: object = {}, header: object = {}, by = ownKey) =>
    ask({ request: requestObject({ ...objectClaims(set.now()), ...claims }, { ...header }, by) })
  const push = (bend: Fields = {}) => set.flow.request(photoPrint, { ...ofPrint, ...bend }, '/par')
  return { ...set, ask, bring, push }
}

export const sentRequests = area('pushed requests and request objects', objectStage, {
  request_uri_pushed: ({ push }) => push({ request_uri }),
  pushed_request_too_large: ({ push }) => push({ resource: 'x'.repeat(17_000) }),
  pushed_request_required: ({ flow }) => flow.ask(authorizationRequest(mustPush), 'alice'),
  request_uri_of_the_client: ({ ask }) => ask({ request_uri: 'https://a.example/' }),
  request_uri_unknown: ({ ask }) => ask({ request_uri }),
  authorization_request_of_another_client: async ({ push, ask }) =>
    ask({ client_id: 'photo-book', request_uri: (await push()).body.request_uri }),
  client_id_mismatch: () => open({ plugins: [another] }).flow.ask(asked, 'alice'),
  too_many_pushed_requests: () => twice(objectStage({ plugins: [pushingOnce, objects] }).push),
  request_object_missing: ({ flow }) => flow.ask(authorizationRequest(mustSign), 'alice'),
  request_object_and_uri: ({ ask }) => ask({ request: 'x', request_uri }),
  request_object_malformed: ({ ask }) => ask({ request: 'x' }),
  request_object_header_refused: ({ bring }) => bring({}, { typ: 'JWT' }),
  request_object_algorithm_refused: ({ bring }) => bring({}, { alg: 'none' }),
  request_object_without_keys: ({ ask, now }) =>
    ask({ client_id: 'keyless', request: requestObject(objectClaims(now(), keyless)) }),
  request_object_key_unknown: ({ bring }) => bring({}, { kid: '9' }),
  request_object_signature_wrong: ({ bring }) => bring({}, {}, strangeKey),
  request_object_incomplete: ({ bring }) => bring({ exp: undefined }),
  request_object_issuer_unknown: ({ bring }) => bring({ iss: 'photo-book' }),
  request_object_audience_wrong: ({ bring }) => bring({ aud: 'https://other.example' }),
  request_object_expired: ({ bring, now }) => bring({ exp: now() - 30 }),
  request_object_too_long_lived: ({ bring, now }) => bring({ exp: now() + 631 }),
  request_object_not_yet_valid: ({ bring, now }) => bring({ nbf: now() + 31 }),
  request_object_of_another_client: ({ bring }) => bring({ client_id: 'photo-book' }),
  request_object_as_assertion: ({ bring }) => bring({ sub: 'photo-print' }),
  request_object_nested: ({ bring }) => bring({ request: 'x' }),
  request_object_claim_malformed: ({ bring }) => bring({ claims: deep }),
})
