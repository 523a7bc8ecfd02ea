import {
  createBearerGuard,
  jwtAccessTokenReader,
  jwtAccessTokens,
  metadataDocuments,
  openIdConnect,
  tokenExchange,
} from 'express-authorization-server'
import express from 'express'
import { bent } from '../support/flows/clients'
import { DocumentOrigin } from '../support/flows/document-origin'
import { authorizationRequest, Flow } from '../support/flows/flow'
import {
  claimsIn,
  identityKeys,
  introspector,
  relyingParty,
  withIdentity,
} from '../support/flows/identity-stage'
import { loginOf } from '../support/flows/login-stage'
import { outcomeOf } from '../support/flows/outcome'
import { getTokens } from '../support/flows/registered-client'
import { describeRegistration, notesApp } from '../support/flows/registering'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { anyOwner, exchangeOf, tokenExchangeName } from '../support/flows/token-exchange'

const pairwise = { secret: 'a secret that stays as long as the accounts' }
const scope = 'openid photos:read'
const api = 'https://api.example/photos'
const resources = { [api]: { scopes: ['photos:read', 'openid'] } }

const pairwiseClient = (client_id: string, ...redirect_uris: readonly string[]) =>
  bent(relyingParty, { client_id, redirect_uris, subject_type: 'pairwise' })
const shop = pairwiseClient('shop', 'https://shop.example/callback')
const till = pairwiseClient('till', 'https://shop.example:8443/till')
const bank = pairwiseClient('bank', 'https://bank.example/callback')
const sister = bent(
  pairwiseClient('sister', 'https://one.example/callback', 'https://two.example/callback'),
  {
    sector_identifier_uri: 'https://bank.example/sector.json',
  },
)
const everyone = [relyingParty, shop, till, bank, sister, introspector]

const withPairwise = (bend: Parameters<typeof withIdentity>[0] = {}) =>
  withIdentity({ clients: everyone.map(({ registration }) => registration), ...bend }, { pairwise })

async function logIn({ flow }: Pick<Stage, 'flow'>, client: typeof shop, owner = 'alice') {
  const redirect_uri = client.registration.redirect_uris?.[0]
  const code = await flow.approve(client, { scope, redirect_uri }, owner)
  const { body } = await flow.redeem(client, code, { redirect_uri })
  return { ...body, sub: claimsIn(body.id_token)['sub'] }
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

describeOnStores('A client with pairwise subjects', (stage) => {
  test('gets one sub for each owner, which clients of its sector share, and others do not [OpenID Connect Core 8.1]', async () => {
    const set = stage(withPairwise())
    const subs = new Map<string, unknown>()
    for (const client of [shop, till, bank, sister, relyingParty])
      subs.set(client.registration.client_id, (await logIn(set, client)).sub)
    expect(subs.get('relying-party')).toBe('alice')
    expect(subs.get('shop')).toMatch(/^[\w-]{43}$/)
    expect(subs.get('till')).toBe(subs.get('shop'))
    expect(subs.get('sister')).toBe(subs.get('bank'))
    expect(subs.get('bank')).not.toBe(subs.get('shop'))
    expect((await logIn(set, shop)).sub).toBe(subs.get('shop'))
    expect((await logIn(set, shop, 'bob')).sub).not.toBe(subs.get('shop'))
    const { body } = await set.flow.open('/.well-known/openid-configuration')
    expect(body.subject_types_supported).toEqual(['public', 'pairwise'])
  })

  test('gets the same sub of another process, and another one with another secret', async () => {
    const { sub } = await logIn(stage(withPairwise()), shop)
    expect((await logIn(stage(withPairwise()), shop)).sub).toBe(sub)
    const clients = [shop.registration]
    const changed = withIdentity({ clients }, { pairwise: { secret: 'x'.repeat(32) } })
    expect((await logIn(stage(changed), shop)).sub).not.toBe(sub)
  })

  test('finds it after a refresh, at UserInfo and at introspection; guards and the host know their own', async () => {
    const asked: string[] = []
    const keys = identityKeys()
    const claims = (subject: string) => {
      asked.push(subject)
      return { name: 'Alice', sub: 'alice' }
    }
    const set = stage(withPairwise({ plugIns: [keys, openIdConnect({ keys, claims, pairwise })] }))
    const { sub, refresh_token } = await logIn(set, shop)
    const { body } = await set.flow.refresh(shop, refresh_token)
    expect(claimsIn(body.id_token)['sub']).toBe(sub)
    const userInfo = await set.flow.open('/userinfo', undefined, bearer(body.access_token))
    expect(userInfo.body).toEqual({ sub })
    expect(asked).toEqual(['alice'])
    const described = await set.flow.introspect(introspector, body.access_token)
    expect(described.body).toMatchObject({ active: true, sub, client_id: 'shop' })
    const own = await set.flow.introspect(introspector, (await logIn(set, relyingParty)).access_token)
    expect(own.body).toMatchObject({ sub: 'alice' })
    expect((await set.flow.photos(body.access_token)).body).toMatchObject({ subject: 'alice' })
    await set.flow.revoke(shop, body.refresh_token)
    expect((await set.flow.introspect(introspector, body.access_token)).body).toEqual({ active: false })
  })

  test('that is gone leaves no trace of the own subject', async () => {
    const clients = everyone.map(({ registration }) => registration)
    const set = stage(withPairwise({ clients }))
    const { access_token } = await logIn(set, shop)
    clients.splice(clients.indexOf(shop.registration), 1)
    expect((await set.flow.introspect(introspector, access_token)).body).toEqual({ active: false })
    expect((await set.flow.open('/userinfo', undefined, bearer(access_token))).status).toBe(401)
  })

  test('names the owner by a hint with the pairwise sub, at the login and at the logout', async () => {
    const leaving = bent(shop, { post_logout_redirect_uris: ['https://shop.example/bye'] })
    const logOut = async () => {}
    const set = stage(withPairwise({ clients: [leaving.registration, relyingParty.registration], logOut }))
    const { id_token } = await logIn(set, leaving)
    const hinted = { ...authorizationRequest(leaving), scope, id_token_hint: id_token }
    expect(outcomeOf(await set.flow.ask(hinted, 'alice'))).toBe('question')
    loginOf(await set.flow.ask(hinted, 'bob'))
    const post_logout_redirect_uri = 'https://shop.example/bye'
    const query = new URLSearchParams({ id_token_hint: id_token, post_logout_redirect_uri })
    expect((await set.flow.open(`/logout?${query.toString()}`, 'alice')).status).toBe(200)
  })
})

describeOnStores('A JWT access token of a client with pairwise subjects', (stage) => {
  const exchanging = bent(introspector, { grant_types: [tokenExchangeName] })
  const open = () => {
    const keys = identityKeys()
    const seen: unknown[] = []
    const claims = (...words: readonly unknown[]) => {
      seen.push(words)
      return undefined
    }
    const set = stage(
      withPairwise({
        clients: [shop, exchanging].map(({ registration }) => registration),
        resources,
        defaultResource: api,
        grantTypes: [tokenExchange({ policy: anyOwner })],
        plugIns: [
          keys,
          jwtAccessTokens({ keys, algorithm: 'ES256', claims }),
          openIdConnect({ keys, pairwise }),
        ],
      }),
    )
    return { ...set, seen, keys }
  }

  test('says the pairwise sub; the host and guards on the store know their own', async () => {
    const set = open()
    const { access_token, sub } = await logIn(set, shop)
    expect(claimsIn(access_token)['sub']).toBe(sub)
    expect(sub).not.toBe('alice')
    expect(set.seen).toEqual([[expect.anything(), expect.objectContaining({ subject: 'alice' })]])
    expect((await set.flow.photos(access_token)).body).toMatchObject({ subject: 'alice' })
    expect((await set.flow.introspect(exchanging, access_token)).body).toMatchObject({ active: true, sub })
    expect((await set.flow.open('/userinfo', undefined, bearer(access_token))).body).toEqual({ sub })
  })

  test('gives the pairwise sub to a guard that checks the signature alone', async () => {
    const set = open()
    const { access_token, sub } = await logIn(set, shop)
    const { body } = await set.flow.open('/.well-known/jwks.json')
    const guard = createBearerGuard({
      issuer: 'http://localhost',
      store: set.store,
      clock: set.clock.read,
      resources,
      plugIns: [jwtAccessTokenReader({ keys: body })],
    })('photos:read', { resource: api, verify: 'signature' })
    const app = express().get('/photos', guard, (request, response) => {
      response.json(request.oauth)
    })
    expect((await new Flow(app).photos(access_token)).body).toMatchObject({ subject: sub })
  })

  test('is revoked and exchanged as any other token', async () => {
    const set = open()
    const { access_token } = await logIn(set, shop)
    const exchanged = await set.flow.request(exchanging, exchangeOf(access_token))
    expect(exchanged.status).toBe(200)
    const token = exchanged.body.access_token
    // The client of the new token has public subjects.
    expect(claimsIn(token)['sub']).toBe('alice')
    await set.flow.revoke(shop, access_token)
    expect((await set.flow.photos(access_token)).status).toBe(401)
  })
})

describeRegistration('A client that registers itself with pairwise subjects', (stage) => {
  test('gets the sub of its sector', async () => {
    const set = stage({}, withPairwise())
    const client = await set.register({ ...notesApp, scope: 'photos:read', subject_type: 'pairwise' })
    const { body } = await getTokens(set, client)
    const described = await set.flow.introspect(introspector, body.access_token)
    const sub = String(described.body.sub)
    expect(sub).toMatch(/^[\w-]{43}$/)
    const neighbour = await set.register({
      ...notesApp,
      client_name: 'Neighbour',
      redirect_uris: ['https://notes.example/other'],
      subject_type: 'pairwise',
    })
    const other = await getTokens(set, neighbour)
    expect((await set.flow.introspect(introspector, other.body.access_token)).body.sub).toBe(sub)
  })
})

describeOnStores('The client of a metadata document with pairwise subjects', (stage) => {
  let origin: DocumentOrigin
  beforeEach(async () => {
    origin = await DocumentOrigin.start()
  })
  afterEach(() => origin.stop())

  test('has the host of the document as its sector', async () => {
    const neighbour = pairwiseClient('neighbour', 'https://notes.example/login')
    const registered = [neighbour, introspector].map(({ registration }) => registration)
    const set = stage(withPairwise({ clients: metadataDocuments({ ...origin.reach, registered }) }))
    origin.members = { subject_type: 'pairwise' }
    const { accessToken } = await set.flow.tokens(origin.client)
    const described = await set.flow.introspect(introspector, accessToken)
    expect(described.body).toMatchObject({ active: true, sub: (await logIn(set, neighbour)).sub })
  })
})
