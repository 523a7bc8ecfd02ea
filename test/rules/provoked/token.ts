import { memoryStore } from '../../../lib/index'
import { deviceAuthorization } from '../../../lib/paths/devices'
import { dpop } from '../../../lib/paths/dpop'
import { jwtAccessTokens } from '../../../lib/paths/jwt'
import { legacyTokens, type LegacyTokensOptions } from '../../../lib/paths/legacy-tokens'
import { password, type PasswordOptions, tokenExchange } from '../../../lib/paths/grants'
import { encodeOwner, nobody } from '../../../lib/authorization/owners'
import {
  bent,
  type ClientApplication,
  nightlyReport,
  photoBook,
  photoPrint,
} from '../../support/flows/clients'
import { consentFormOf } from '../../support/flows/consent-form'
import { deviceCode, deviceSecret, television, toaster } from '../../support/flows/device-stage'
import { authorizationRequest, type Fields, type RepeatedFields } from '../../support/flows/flow'
import { identityKeys } from '../../support/flows/identity-stage'
import { oldPrint, passwordRequest, wonderland } from '../../support/flows/password'
import { Prover } from '../../support/flows/prover'
import * as resources from '../../support/flows/resources'
import { accessTokenType, anyOwner, exchangeOf, service } from '../../support/flows/token-exchange'
import { but } from '../../support/stores/but'
import { area, atNextSave, grant, once, open, type Opened, type Options, registered, twice } from './provoke'
import { withPlugins } from '../../support/with-plug-ins'

const brief = bent(photoPrint, { client_id: 'brief', grant_lifetime: 30 })
const another = { redirect_uri: 'https://a.example/' }
const narrow = { name: 'narrow', issue: () => ({ scope: [] }) }
const withoutPkce = { code_challenge: [], code_challenge_method: [] }

/** Codes and refresh tokens. */
function grantStage(options: Options = {}) {
  const clients = registered(photoPrint, photoBook, brief, nightlyReport)
  const set = open({ clients, pkce: 'public', ...options })
  const { flow } = set
  const redeem = async (bend: RepeatedFields) => flow.redeem(photoPrint, await flow.approve(photoPrint), bend)
  /** A redemption after something has happened. */
  const redeemAfter = async (
    happens: (set: Opened, code: string) => unknown,
    client: ClientApplication = photoPrint,
  ) => {
    const code = await flow.approve(client)
    await happens(set, code)
    return flow.redeem(client, code)
  }
  const refreshAfter = async (
    happens: (set: Opened, token: string) => unknown,
    client: ClientApplication = photoPrint,
    bend: Fields = {},
  ) => {
    const { refreshToken } = await flow.tokens(client, { scope: 'photos:read' })
    await happens(set, refreshToken)
    return flow.refresh(client, refreshToken, bend)
  }
  const work = () => flow.request(nightlyReport, grant)
  return { ...set, redeem, redeemAfter, refreshAfter, work }
}

const later = (seconds: number) => (set: Opened) => set.clock.advance(seconds)
const directoryAway = () => {
  throw new Error('The directory is away.')
}

const legacyToken = '0'.repeat(40)
const soon = () => Math.floor(Date.now() / 1000) + 60

/** A grant of another server comes. */
function movingStage(findRefresh: LegacyTokensOptions['findRefresh']) {
  const terms = { form: /0+/, until: soon(), findAccess: () => undefined, findRefresh }
  return grantStage({ plugins: [legacyTokens(terms)] })
}

export const grants = area('codes and refresh tokens', grantStage, {
  code_malformed: ({ flow }) => flow.redeem(photoPrint, 'x'),
  code_unknown: ({ flow }) => flow.redeem(photoPrint, `ac_${'A'.repeat(65)}`),
  code_expired: ({ redeemAfter }) => redeemAfter(later(61)),
  code_of_another_client: async ({ flow }) => flow.redeem(photoBook, await flow.approve(photoPrint)),
  code_replayed: ({ redeemAfter }) => redeemAfter(({ flow }, code) => flow.redeem(photoPrint, code)),
  'redirect_uri_missing/code': ({ redeem }) => redeem({ redirect_uri: [] }),
  'redirect_uri_mismatch/code': ({ redeem }) => redeem(another),
  code_burnt: ({ redeemAfter }) =>
    redeemAfter(async ({ flow }, code) => {
      for (let turn = 0; turn < 5; turn++) await flow.redeem(photoPrint, code, another)
    }),
  pkce_verifier_missing: ({ redeem }) => redeem({ code_verifier: [] }),
  pkce_verifier_malformed: ({ redeem }) => redeem({ code_verifier: 'x' }),
  pkce_verifier_wrong: ({ redeem }) => redeem({ code_verifier: 'x'.repeat(43) }),
  pkce_verifier_unexpected: async ({ flow }) =>
    flow.redeem(photoPrint, await flow.approve(photoPrint, withoutPkce)),
  'grant_expired/code': ({ redeemAfter }) => redeemAfter(later(31), brief),
  grant_expired: ({ refreshAfter }) => refreshAfter(later(31), brief),
  refresh_token_malformed: ({ flow }) => flow.refresh(photoPrint, 'x'),
  refresh_token_unknown: ({ flow }) => flow.refresh(photoPrint, `rt_${'A'.repeat(82)}`),
  refresh_token_expired: () => grantStage({ lifetimes: { refreshToken: 60 } }).refreshAfter(later(61)),
  refresh_token_of_another_client: async ({ flow }) =>
    flow.refresh(photoBook, (await flow.tokens(photoPrint)).refreshToken),
  refresh_token_reused: ({ refreshAfter }) =>
    refreshAfter(async ({ flow, clock }, token) => {
      await flow.refresh(photoPrint, token)
      clock.advance(31)
    }),
  refresh_token_superseded: ({ refreshAfter }) =>
    refreshAfter((set, token) =>
      atNextSave(set, async (save) => {
        const { body } = await set.flow.refresh(photoPrint, token)
        await set.flow.refresh(photoPrint, body.refresh_token)
        set.clock.advance(31)
        return save()
      }),
    ),
  scope_exceeded: ({ refreshAfter }) => refreshAfter(() => {}, photoPrint, { scope: 'photos:print' }),
  'scope_exceeded/unavailable': () => grantStage({ plugins: [narrow] }).redeem({}),
  scope_withdrawn: async ({ flow, store }) => {
    const { refreshToken } = await flow.tokens(photoPrint, { scope: 'photos:print' })
    const clients = registered(bent(photoPrint, { scope: 'photos:read' }))
    return grantStage({ store, clients }).flow.refresh(photoPrint, refreshToken)
  },
  no_longer_allowed: () => grantStage({ stillAllowed: () => false }).refreshAfter(() => {}),
  refresh_check_failed: () => grantStage({ stillAllowed: directoryAway }).refreshAfter(() => {}),
  store_unavailable: () => grantStage().redeemAfter(({ store }) => store.begin('fails', 'write')),
  record_contended: () => grantStage().redeemAfter(({ store }) => void (store.write = async () => false)),
  grant_used_up: async () => {
    const { flow } = movingStage(() => ({
      clientId: 'photo-print',
      scope: ['photos:read'],
      expiresAt: soon(),
    }))
    await flow.refresh(photoPrint, legacyToken)
    await flow.revoke(photoPrint, legacyToken)
    return flow.refresh(photoPrint, legacyToken)
  },
  legacy_lookup_failed: () => movingStage(directoryAway).flow.refresh(photoPrint, legacyToken),
  client_issue_limited: () => twice(grantStage({ limits: { issuing: { client: once } } }).work),
  owner_issue_limited: () => grantStage({ limits: { issuing: { owner: once } } }).refreshAfter(() => {}),
  owner_share_full: async () => {
    // The room that an approval makes is taken before it enters.
    const entries = Array.from({ length: 1000 }, (_, place) => ({
      authorizationId: String(place).padStart(22, '0'),
      clientId: `client-${place % 20}`,
      openId: false,
      until: 2_000_000_000,
    }))
    const full = { value: encodeOwner({ ...nobody, entries }), version: 'v'.repeat(22) }
    const kept = memoryStore()
    const store = but(kept, {
      read: async (key) => (key.startsWith('owner:') ? full : kept.read(key)),
      write: async (key, ...words) => key.startsWith('owner:') || kept.write(key, ...words),
    })
    const { flow } = grantStage({ store, authorizations: true })
    return flow.decide(await flow.ask(authorizationRequest(photoPrint), 'alice'), 'approve', 'alice')
  },
})

const verify: PasswordOptions['verify'] = (_name, given) => {
  if (given === 'boom') return directoryAway()
  return given === wonderland.password ? 'alice' : undefined
}

function passwordStage(terms: Partial<PasswordOptions> = {}, options: Options = {}) {
  const grantTypes = [password({ verify, ...terms })]
  const set = open({
    clients: registered(oldPrint),
    ...options,
    plugins: withPlugins([...grantTypes], options.plugins),
  })
  const ask = (bend = {}) => set.flow.request(oldPrint, { ...passwordRequest, ...bend })
  return { ...set, ask }
}
const guesses = (limits: NonNullable<PasswordOptions['limits']>) => () => {
  const { ask } = passwordStage({ limits })
  return twice(() => ask({ password: 'wrong' }))
}

export const passwords = area('passwords', passwordStage, {
  password_refused: ({ ask }) => ask({ password: 'wrong' }),
  password_credentials_too_long: ({ ask }) => ask({ password: 'x'.repeat(1025) }),
  password_verification_failed: ({ ask }) => ask({ password: 'boom' }),
  password_normalization_failed: () => passwordStage({ normalize: directoryAway }).ask(),
  password_username_limited: guesses({ username: once }),
  password_address_limited: guesses({ address: once }),
  password_client_limited: guesses({ client: once }),
  authorizations_revoked: () => {
    const revokes = () => oauth.authorizations.revokeAll('alice').then(() => 'alice')
    const { ask, oauth } = passwordStage({ verify: revokes }, { authorizations: true })
    return ask()
  },
})

const { gallery, job, photosApi, printApi, reportsApi, threeResources } = resources
const keys = identityKeys()

function targetStage(options: Options = {}) {
  const set = open(resources.withResources(options), { mount: resources.mountResources })
  const ask = (bend: RepeatedFields) => set.flow.request(job, { ...grant, resource: photosApi, ...bend })
  return { ...set, ask }
}

export const targets = area('resources', targetStage, {
  resource_malformed: ({ ask }) => ask({ resource: 'x' }),
  resource_unknown: ({ ask }) => ask({ resource: 'https://a.example/' }),
  resource_missing: ({ ask }) => ask({ resource: [] }),
  resource_too_many: ({ ask }) => ask({ resource: Array.from({ length: 9 }, () => photosApi) }),
  resource_not_approved: async ({ flow }) => {
    const code = await flow.approve(gallery, { scope: 'photos:read', resource: photosApi })
    return flow.redeem(gallery, code, { resource: reportsApi })
  },
  resource_formats_differ: () => {
    const opaque = { ...threeResources[printApi], accessTokenFormat: 'opaque' }
    const plugins = [keys, jwtAccessTokens({ keys })]
    const { ask } = targetStage({ plugins, resources: { ...threeResources, [printApi]: opaque } })
    return ask({ resource: [photosApi, printApi] })
  },
  scope_of_another_resource: ({ ask }) => ask({ resource: reportsApi }),
})

const third = 'urn:example:third'
const typed = { actor_token_type: accessTokenType }

async function exchangeStage() {
  const exchanging = tokenExchange({
    policy: (asked) => {
      if (asked.audience.includes('forbidden')) return undefined
      return asked.audience.includes('ignored') ? { subject: 'alice' } : anyOwner(asked)
    },
    tokenTypes: { [third]: () => undefined },
  })
  const { flow } = open({ clients: registered(service, photoPrint), plugins: [exchanging] })
  const { accessToken } = await flow.tokens(photoPrint, { scope: 'photos:read' })
  const own = (await flow.request(service, grant)).body.access_token
  const exchange = (bend: Fields = {}, token = accessToken) => flow.request(service, exchangeOf(token, bend))
  return { exchange, actor: { actor_token: own, ...typed } }
}

export const exchanges = area('token exchange', exchangeStage, {
  subject_token_refused: ({ exchange }) => exchange({ subject_token: 'x' }),
  actor_token_refused: ({ exchange }) => exchange({ actor_token: 'x', ...typed }),
  actor_token_missing: ({ exchange }) => exchange(typed),
  security_token_type_unsupported: ({ exchange }) => exchange({ subject_token_type: 'urn:example:other' }),
  requested_token_type_unsupported: ({ exchange }) => exchange({ requested_token_type: third }),
  exchange_refused: ({ exchange }) => exchange({ audience: 'forbidden' }),
  actor_chain_too_long: async ({ exchange, actor }) => {
    let { access_token } = (await exchange(actor)).body
    for (let turn = 1; turn < 8; turn++) ({ access_token } = (await exchange(actor, access_token)).body)
    return exchange(actor, access_token)
  },
  'scope_exceeded/exchange': ({ exchange }) => exchange({ scope: 'reports:write' }),
  targets_too_large: ({ exchange }) => exchange({ audience: 'x'.repeat(4097) }),
  target_refused: ({ exchange }) => exchange({ audience: 'ignored' }),
})

/** A device at a server that knows proofs, and its owner. */
function deviceStage(own: object = {}, options: Options = {}) {
  const plugins = [
    deviceAuthorization({ secret: deviceSecret, ...own }),
    dpop({ baseUrl: 'http://localhost' }),
  ]
  const set = open({ clients: registered(television, toaster), plugins, ...options })
  const { flow } = set
  const begin = () => flow.request(television, { scope: 'photos:read' }, '/device_authorization')
  const enter = (user_code = 'BBBB-BBBB') => flow.enterCode({ user_code }, 'alice')
  const decide = async (user_code: string, decision: string) => {
    const { fields } = consentFormOf(await enter(user_code), '/device')
    return flow.submit('/device', { ...fields, decision }, 'alice')
  }
  const poll = (device_code: string, client = television) =>
    flow.request(client, { grant_type: deviceCode, device_code })
  /** Polls, after a decision and a first poll, unless there is none. */
  const pollAgain = async (seconds: number, decision?: string) => {
    const { device_code, user_code } = (await begin()).body
    if (decision !== undefined) await decide(user_code, decision)
    await poll(device_code)
    set.clock.advance(seconds)
    return poll(device_code)
  }
  return { ...set, begin, enter, decide, poll, pollAgain }
}

export const devices = area('devices', deviceStage, {
  'decision_unknown/device': async ({ begin, decide }) => decide((await begin()).body.user_code, 'perhaps'),
  user_code_unknown: ({ enter }) => enter(),
  form_cross_site: ({ flow }) => flow.submit('/device', {}, 'alice', { 'Sec-Fetch-Site': 'cross-site' }),
  'form_cross_site/device': ({ flow }) => flow.submit('/device', { user_code: 'BCDF-GHJK' }, 'alice'),
  user_code_owner_limited: () => twice(deviceStage({ guesses: { owner: once } }).enter),
  user_code_network_limited: () => twice(deviceStage({ guesses: { network: once } }).enter),
  device_requests_limited: () => twice(deviceStage({ requests: once }).begin),
  handle_unknown: ({ poll }) => poll('x'),
  handle_of_another_client: async ({ begin, poll }) => poll((await begin()).body.device_code, toaster),
  handle_replayed: ({ pollAgain }) => pollAgain(31, 'approve'),
  repetition_key_wrong: async ({ begin, decide, poll, flow, clock }) => {
    const { device_code, user_code } = (await begin()).body
    await decide(user_code, 'approve')
    await poll(device_code)
    return new Prover(clock.read).tokens(flow, { grant_type: deviceCode, device_code }, television)
  },
  'owner_denied/poll': ({ pollAgain }) => pollAgain(5, 'deny'),
  owner_has_not_decided: ({ pollAgain }) => pollAgain(5),
  device_poll_early: ({ pollAgain }) => pollAgain(2),
  'authorization_request_expired/poll': ({ pollAgain }) => pollAgain(601),
  'grant_expired/poll': () => deviceStage({}, { lifetimes: { grant: 20 } }).pollAgain(25, 'approve'),
})
