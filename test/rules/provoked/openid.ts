import { stepUp } from '../../../lib/index'
import { jwtAccessTokens, signingKeys, type SigningKeys } from '../../../lib/paths/jwt'
import { openIdConnect, type OpenIdConnectOptions } from '../../../lib/paths/openid-connect'
import { hub } from '../../support/assertions/jwt'
import { bent } from '../../support/flows/clients'
import { authorizationRequest, type Fields, formOf, type Headers } from '../../support/flows/flow'
import { identityKeys, relyingParty, withIdentity } from '../../support/flows/identity-stage'
import { loginOf, ownerOfHeaders, session } from '../../support/flows/login-stage'
import { gallery, mountResources, photosApi, withResources } from '../../support/flows/resources'
import { area, open, type Options, registered } from './provoke'

const keys = identityKeys()
const claims = async () => undefined
const party = bent(relyingParty, {
  post_logout_redirect_uris: ['https://print.example/'],
  backchannel_logout_uri: 'https://client.example/',
})
const punctual = bent(party, { client_id: 'punctual', require_auth_time: true })
const forBob = { claims: JSON.stringify({ id_token: { sub: { value: 'bob' } } }) }
const backChannelLogout = { lookup: async () => [{ address: '10.0.0.1' }] }

/** A login of which the host tells time and class, by headers. */
function loginStage(identity: Partial<OpenIdConnectOptions> = {}) {
  const openId = openIdConnect({ keys, claims, claimsParameter: true, backChannelLogout, ...identity })
  const set = open({
    ...withIdentity(),
    clients: registered(party, punctual),
    plugins: [keys, openId, stepUp({ acrValues: ['gold'] })],
    resourceOwner: ownerOfHeaders,
    logOut: () => {},
  })
  const usual = { ...authorizationRequest(party), scope: 'openid' }
  const ask = (bend: Fields = {}, headers: Headers = { 'X-Owner': 'alice', ...session(set.now() - 60) }) =>
    set.flow.open(`/authorize?${formOf({ ...usual, ...bend })}`, undefined, headers)
  /** Comes back from the login that the request demands. */
  const comesBack = async (bend: Fields, age = 0) =>
    set.flow.open(loginOf(await ask(bend)).back, 'alice', session(set.now() - age, 'bronze'))
  return { ...set, openId, ask, comesBack }
}

async function redeemed({ ask, flow, now }: ReturnType<typeof loginStage>) {
  const owner = ['approve', 'alice', session(now())] as const
  const { searchParams } = new URL(String((await flow.decide(await ask(), ...owner)).get('Location')))
  return flow.redeem(party, String(searchParams.get('code')))
}

export const logins = area('logins and OpenID Connect', loginStage, {
  'parameter_malformed/value': ({ ask }) => ask({ max_age: 'x' }),
  'parameter_malformed/hint': ({ ask }) => ask({ id_token_hint: 'x' }),
  parameter_not_supported: ({ ask }) => ask({ request: 'x' }),
  'parameter_not_supported/request_uri': ({ ask }) => ask({ request_uri: 'https://a.example/' }),
  'parameter_not_supported/registration': ({ ask }) => ask({ registration: '{}' }),
  prompt_none_without_login: ({ ask }) => ask({ prompt: 'none' }, {}),
  prompt_none_without_consent: ({ ask }) => ask({ prompt: 'none' }),
  login_not_renewed: ({ comesBack }) => comesBack({ prompt: 'login' }, 60),
  login_changed: async ({ ask, flow, now }) =>
    flow.decide(await ask({ max_age: '100' }), 'approve', 'alice', session(now() - 300)),
  owner_not_hinted: ({ comesBack }) => comesBack(forBob),
  acr_not_offered: ({ ask }) => ask({ acr_values: 'silver' }),
  acr_not_met: ({ comesBack }) => comesBack({ acr_values: 'gold' }),
  login_time_unknown: ({ ask }) => ask({ client_id: 'punctual' }, { 'X-Owner': 'alice' }),
  'parameter_missing/post_logout': ({ flow }) =>
    flow.open('/logout?post_logout_redirect_uri=https://print.example/', 'alice'),
  'redirect_uri_mismatch/logout': ({ flow }) =>
    flow.open('/logout?client_id=relying-party&post_logout_redirect_uri=https://a.example/', 'alice'),
  'authorization_request_not_open/logout': ({ flow }) =>
    flow.submit('/logout', { logout_request: 'x', decision: 'log_out' }, 'alice'),
  'parameter_too_long/form': ({ flow }) =>
    flow.submit('/logout', { other: 'x'.repeat(7001) }, 'alice', { 'Sec-Fetch-Site': 'cross-site' }),
  logout_not_delivered: async (set) => {
    await redeemed(set)
    await set.openId.announceLogout('alice')
  },
  'token_invalid/no_claims': async (set) => {
    const { access_token: token } = (await redeemed(set)).body
    return set.flow.open('/userinfo', undefined, { Authorization: `Bearer ${token}` })
  },
  token_missing: ({ flow }) => flow.open('/userinfo'),
  'token_missing/scheme': ({ flow }) => flow.open('/userinfo', undefined, { Authorization: 'Basic x' }),
  'token_missing/query': ({ flow }) => flow.open('/userinfo?access_token=x'),
})

async function tokenSignedBy(own: SigningKeys, options: Options = {}) {
  const plugins = [own, jwtAccessTokens({ keys: own })]
  const { flow } = open(withResources({ plugins, ...options }), { mount: mountResources })
  return flow.redeem(gallery, await flow.approve(gallery, { scope: 'photos:read', resource: photosApi }))
}
const byService: SigningKeys = signingKeys({
  keys: [
    { publicKey: hub.publicKey, algorithm: 'RS256', sign: () => Promise.reject(new Error('It is away.')) },
  ],
})

export const signing = area('keys that sign', open, {
  signing_keys_unavailable: async ({ store }) => {
    await tokenSignedBy(signingKeys({ secrets: ['a'.repeat(32)] }), { store })
    return tokenSignedBy(signingKeys({ secrets: ['b'.repeat(32)] }), { store })
  },
  signer_unavailable: () => tokenSignedBy(byService),
})
