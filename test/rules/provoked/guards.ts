import express, { type RequestHandler } from 'express'
import { type BearerGuardOptions, memoryStore } from '../../../lib/index'
import { createBearerGuard } from '../../../lib/paths/guards'
import { dpop, type DpopOptions } from '../../../lib/paths/dpop'
import { mac, type MacOptions } from '../../../lib/paths/mac'
import { pushedAuthorizationRequests } from '../../../lib/paths/pushed-requests'
import { hub, hubOnCurve, partner } from '../../support/assertions/jwt'
import { bent, nightlyReport, photoBook, photoPrint } from '../../support/flows/clients'
import { authorizationRequest, type Fields, Flow, formOf, redemption } from '../../support/flows/flow'
import { introspectedPhotos, IntrospectionServer } from '../../support/flows/introspection-server'
import { ownerOfHeaders, session } from '../../support/flows/login-stage'
import { macHeader, type SignedParts } from '../../support/flows/mac'
import { hashOf, Prover } from '../../support/flows/prover'
import { codeOf } from '../../support/flows/redirection'
import { rawRequest } from '../../support/flows/raw-request'
import { accessClaims, accessJwt } from '../../support/jwt-guard/access-tokens'
import { guardedPhotos } from '../../support/jwt-guard/guarded-photos'
import { area, grant, once, open, type Opened, type Options, registered, twice } from './provoke'
import { withPlugins } from '../../support/with-plug-ins'

const issuer = 'http://localhost'
const shows = (guard: RequestHandler, token: string) =>
  new Flow(express().get('/photos', guard)).photos(token)
/** A guard in another process. */
const guardAt = ({ store, clock }: Opened, bend: Partial<Parameters<typeof createBearerGuard>[0]> = {}) =>
  createBearerGuard({ issuer, store, clock: clock.read, ...bend })('photos:read')

/** A token for photos:read, shown to a guard. */
const at =
  (guard: (set: Opened) => RequestHandler, options: Options = {}) =>
  async () => {
    const set = open(options)
    return shows(guard(set), (await set.flow.request(nightlyReport, grant)).body.access_token)
  }

/** A token of an owner who has logged in like this. */
const afterLogin = (terms: BearerGuardOptions, login: (now: number) => Fields) => async () => {
  const { flow, oauth, now } = open({ resourceOwner: ownerOfHeaders })
  const owner = ['alice', Object(login(now()))] as const
  const page = await flow.open(`/authorize?${formOf(authorizationRequest(photoPrint))}`, ...owner)
  const { body } = await flow.redeem(photoPrint, codeOf(await flow.decide(page, 'approve', ...owner)))
  return shows(oauth.bearerGuard(terms), body.access_token)
}
const anHourAgo = (now: number) => session(now - 3600)

const every = { scopes: ['photos:read', 'photos:print', 'reports:write'] }
const resources = { resources: { 'urn:photos': every, 'urn:other': every }, defaultResource: 'urn:photos' }
const two = ['Authorization', 'Bearer a', 'Authorization', 'Bearer b']

export const guards = area('guards', open, {
  token_malformed: ({ flow }) => flow.photos('a b'),
  'several_authorization_headers/guard': ({ app }) =>
    rawRequest(app, { method: 'GET', path: '/photos', headers: two }),
  'token_invalid/form': ({ flow }) => flow.photos('x'),
  'token_invalid/not_in_store': at((set) => guardAt(set, { store: memoryStore() })),
  'token_invalid/other_issuer': at((set) => guardAt(set, { issuer: 'http://127.0.0.1' })),
  'token_invalid/expired': at((set) => guardAt(set, { clock: () => set.clock.read() + 3_601_000 })),
  token_scope_insufficient: at(({ oauth }) => oauth.bearerGuard('photos:print')),
  'token_resource/no_resources': at((set) => guardAt(set), resources),
  token_resource: at(({ oauth }) => oauth.bearerGuard({ resource: 'urn:other' }), resources),
  token_unbound: at((set) => guardAt(set, { plugins: [dpop({ baseUrl: issuer, required: true })] })),
  login_unknown: afterLogin({ maxAge: 300 }, () => ({})),
  login_of_another_class: afterLogin({ acr: ['gold'] }, anHourAgo),
  login_too_old: afterLogin({ maxAge: 300 }, anHourAgo),
})

const macTokens = (bend: Partial<MacOptions> = {}) => [mac({ hosts: ['api.example.com'], ...bend })]

/** A client that signs its requests. */
async function macStage(options: Options = {}) {
  const set = open({ tokenType: 'mac', ...options, plugins: withPlugins([...macTokens()], options.plugins) })
  const { body } = await set.flow.request(nightlyReport, grant)
  const call = (parts: SignedParts = {}, Host = 'api.example.com', flow = set.flow) => {
    const Authorization = macHeader(body, { port: '80', ts: set.clock.read(), ...parts })
    return flow.open('/photos', undefined, { Host, Authorization })
  }
  return { ...set, call, token: String(body.access_token) }
}

export const macs = area('tokens of the type mac', macStage, {
  mac_wrong: ({ call }) => call({ target: '/other' }),
  mac_not_in_time: ({ call, clock }) => call({ ts: clock.read() - 61_000 }),
  mac_replayed: ({ call }) => twice(() => call({ nonce: 'once' })),
  mac_host_not_listed: ({ call }) => call({}, 'other.example.com'),
  mac_algorithm_not_offered: (set) => {
    const guard = guardAt(set, { plugins: [...macTokens({ algorithms: ['hmac-sha-1'] })] })
    return set.call({}, 'api.example.com', new Flow(express().get('/photos', guard)))
  },
  token_of_another_type: ({ flow, token }) => flow.photos(token),
  single_use_limited: async () => twice((await macStage({ limits: { singleUses: once } })).call),
})

const bound = bent(nightlyReport, { dpop_bound_access_tokens: true })
const ownFields = ({ registration: { client_id }, secret }: typeof bound) => ({
  client_id,
  client_secret: secret,
})
const jkt = 'x'.repeat(43)
const asked = authorizationRequest(photoBook)

/** A client with a key. */
function dpopStage(options: DpopOptions = {}) {
  const plugins = [dpop({ baseUrl: issuer, ...options }), pushedAuthorizationRequests()]
  const set = open({ clients: registered(bound, photoBook), plugins })
  const prover = new Prover(set.clock.read)
  const request = (proof?: string, fields: Fields = { ...ownFields(bound), ...grant }, path = '/token') =>
    set.flow.submit(path, fields, undefined, proof === undefined ? {} : { DPoP: proof })
  const prove = (claims: object = {}, header: object = {}) =>
    request(prover.proof('POST', '/token', claims, header))
  const call = async (claims: object = {}, by = prover) => {
    const { access_token: token } = (await prove()).body
    const DPoP = by.proof('GET', '/photos', { ath: hashOf(token), ...claims })
    return set.flow.open('/photos', undefined, { DPoP, Authorization: `DPoP ${token}` })
  }
  return { ...set, prover, request, prove, call }
}

export const proofs = area('proofs of a key', dpopStage, {
  dpop_proof_missing: ({ request }) => request(),
  dpop_proof_repeated: ({ app }) => {
    const headers = ['Content-Type', 'application/x-www-form-urlencoded', 'DPoP', 'a', 'DPoP', 'b']
    return rawRequest(app, { method: 'POST', path: '/token', headers, body: formOf(ownFields(bound)) })
  },
  dpop_proof_malformed: ({ request }) => request('x'),
  dpop_header_refused: ({ prove }) => prove({}, { typ: 'JWT' }),
  dpop_algorithm_refused: ({ prove }) => prove({}, { alg: 'none' }),
  dpop_key_private: ({ prove, prover }) => prove({}, { jwk: prover.privateJwk }),
  dpop_key_refused: ({ prove }) => prove({}, { jwk: {} }),
  dpop_signature_wrong: ({ prove }) => prove({}, { jwk: new Prover(Date.now).jwk }),
  dpop_claims_refused: ({ prove }) => prove({ jti: undefined }),
  dpop_method_wrong: ({ prove }) => prove({ htm: 'GET' }),
  dpop_url_wrong: ({ prove }) => prove({ htu: 'http://localhost/other' }),
  dpop_token_hash_missing: ({ call }) => call({ ath: undefined }),
  dpop_token_hash_wrong: ({ call }) => call({ ath: 'x' }),
  dpop_not_in_time: ({ prove }) => prove({ iat: 1 }),
  dpop_replayed: ({ prove }) => twice(() => prove({ jti: 'once' })),
  dpop_nonce_missing: () => dpopStage({ nonces: {} }).prove(),
  dpop_nonce_not_current: () => dpopStage({ nonces: {} }).prove({ nonce: 'old' }),
  dpop_key_wrong: async ({ flow, prover }) =>
    prover.tokens(flow, redemption(photoBook, await flow.approve(photoBook, { dpop_jkt: jkt }))),
  'dpop_key_wrong/guard': ({ call, clock }) => call({}, new Prover(clock.read)),
  dpop_jkt_malformed: ({ flow }) => flow.ask({ ...asked, dpop_jkt: 'x' }, 'alice'),
  dpop_jkt_mismatch: ({ request, prover }) =>
    request(prover.proof('POST', '/par'), { ...asked, dpop_jkt: jkt }, '/par'),
})

/** A resource server that knows of its issuer only the keys. */
function jwtStage(options: Parameters<typeof guardedPhotos>[0] = {}) {
  const set = guardedPhotos(options)
  set.guard.events.removeAllListeners('failure')
  const show = (claims: object = {}, header: Fields = {}, by = hub) =>
    set.ask(accessJwt(accessClaims(set.now(), { ...claims }), by, header))
  return { ...set, show }
}

export const jwts = area('JWT access tokens', jwtStage, {
  jwt_malformed: ({ ask }) => ask('x'),
  jwt_header_refused: ({ show }) => show({}, { typ: 'JWT' }),
  jwt_algorithm_refused: ({ show }) => show({}, { alg: 'none' }),
  token_issuer_unknown: ({ show }) => show({ iss: partner.issuer }),
  jwt_key_unknown: ({ show }) => show({}, { kid: 'x' }),
  jwt_signature_wrong: ({ show }) => show({}, { kid: hubOnCurve.kid }, partner),
  token_expired: ({ show }) => show({ exp: 1 }),
  token_not_yet_valid: ({ show, now }) => show({ nbf: now() + 60 }),
  token_incomplete: ({ show }) => show({ client_id: undefined }),
  token_bound_to_key: ({ show }) => show({ cnf: { jkt: 'x' } }),
  token_of_another_kind: ({ show }) => show({ at_hash: 'x' }),
  jwt_keys_unavailable: () => jwtStage({ jwks_uri: 'http://127.0.0.1:1/' }).show(),
})

const server = new IntrospectionServer()
afterAll(() => server.stop())
const good = { active: true, client_id: 'photo-book', scope: 'photos:read' }

/** A resource server that asks an endpoint, which answers like this. */
function asking(answer: typeof server.answer, options: Parameters<typeof introspectedPhotos>[1] = {}) {
  server.answer = answer
  const { ask, guard } = introspectedPhotos(server.issuer, options)
  guard.events.removeAllListeners('failure')
  return ask
}
const answering = (bend: object) => () => asking({ ...good, ...bend })('token')

export const introspections = area('introspection', () => server.start(), {
  token_invalid: answering({ active: false }),
  introspection_not_authorized: () => asking((response) => void response.writeHead(401).end())('token'),
  introspection_unavailable: () => asking('x')('token'),
  introspection_limited: async () => {
    const ask = asking({ active: false }, { inactive: once })
    await ask('one')
    return ask('two')
  },
})
