import {
  type AuthorizationServerOptions,
  type ClientRegistration,
  metadataDocuments,
  tokenExchange,
} from '../../lib/index'
import { mountAll } from '../support/flows/application'
import { bent, type ClientApplication, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { DocumentOrigin } from '../support/flows/document-origin'
import { describeRegistration, notesApp } from '../support/flows/registering'
import { gallery, mountResources, photosApi, printApi, withResources } from '../support/flows/resources'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { anyOwner, exchangeOf, tokenExchangeName } from '../support/flows/token-exchange'
import { outcomeOf } from '../support/flows/outcome'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const introspecting = bent(nightlyReport, { may_introspect: true })
const both = 'photos:read photos:print'

/** A server whose registrations of one client can change. */
function changing(
  stage: SetStage,
  client: ClientApplication,
  options: Partial<AuthorizationServerOptions> = {},
) {
  let current: ClientRegistration = client.registration
  const others = [introspecting.registration]
  const find = async (clientId: string) =>
    clientId === client.registration.client_id
      ? current
      : others.find(({ client_id }) => client_id === clientId)
  const mount = options.resources === undefined ? mountAll : mountResources
  const set = stage({ ...options, clients: { find } }, { mount })
  const allow = (scope: string) => (current = { ...client.registration, scope })
  return { ...set, allow, reasonOf: () => set.failures.at(-1)?.reason }
}

describeOnStores('A scope that the client has lost', (stage) => {
  test('is missing from a code and the next refresh, and counts again when it is given back [refresh-17]', async () => {
    const { flow, allow, oauth } = changing(stage, photoBook)
    const scopes: unknown[] = []
    oauth.events.on('refreshed', ({ scope }) => scopes.push(scope))
    const first = await flow.tokens(photoBook)
    const code = await flow.approve(photoBook)
    allow('photos:read')
    expect(tokensOf(await flow.redeem(photoBook, code)).scope).toBe('photos:read')
    // The access tokens that the client has keep it until they end.
    expect((await flow.photos(first.accessToken)).body).toMatchObject({ scope: both.split(' ') })
    const narrowed = tokensOf(await flow.refresh(photoBook, first.refreshToken))
    expect(narrowed.scope).toBe('photos:read')
    expect((await flow.photos(narrowed.accessToken)).body).toMatchObject({ scope: ['photos:read'] })
    expect((await flow.introspect(introspecting, narrowed.accessToken)).body).toMatchObject({
      scope: 'photos:read',
    })
    allow(both)
    const whole = tokensOf(await flow.refresh(photoBook, narrowed.refreshToken))
    expect(whole.scope).toBe(both)
    expect(scopes).toEqual([['photos:read'], both.split(' ')])
  })

  test('leaves what the request names, if the grant has it', async () => {
    const { flow, allow, reasonOf } = changing(stage, photoBook)
    const { refreshToken } = await flow.tokens(photoBook)
    allow('photos:read')
    const asked = (scope: string) => flow.refresh(photoBook, refreshToken, { scope })
    expect(refusalOf(await asked(`${both} reports:write`))).toBe('400 invalid_scope')
    expect(reasonOf()).toBe('scope_exceeded')
    expect(refusalOf(await asked('photos:print'))).toBe('400 invalid_scope')
    expect(reasonOf()).toBe('scope_withdrawn')
    expect(tokensOf(await asked(both)).scope).toBe('photos:read')
  })

  test('refuses a code and a refresh token of which nothing is left, and spends neither', async () => {
    const { flow, allow, reasonOf } = changing(stage, photoBook)
    const { refreshToken, accessToken } = await flow.tokens(photoBook)
    const code = await flow.approve(photoBook)
    allow('reports:write')
    // More often than a code survives wrong proofs.
    for (let attempts = 0; attempts < 6; attempts++) {
      expect(refusalOf(await flow.redeem(photoBook, code))).toBe('400 invalid_scope')
      expect(reasonOf()).toBe('scope_withdrawn')
    }
    expect(refusalOf(await flow.refresh(photoBook, refreshToken))).toBe('400 invalid_scope')
    expect((await flow.photos(accessToken)).status).toBe(200)
    allow(both)
    expect(tokensOf(await flow.redeem(photoBook, code)).scope).toBe(both)
    expect(tokensOf(await flow.refresh(photoBook, refreshToken)).scope).toBe(both)
  })

  test('is missing from a repeated refresh, which keeps the refresh token of the first', async () => {
    const { flow, allow } = changing(stage, photoBook)
    const { refreshToken } = await flow.tokens(photoBook)
    const again = async () => tokensOf(await flow.refresh(photoBook, refreshToken))
    const first = await again()
    allow('photos:read')
    const narrowed = await again()
    expect(narrowed).toMatchObject({ scope: 'photos:read', refreshToken: first.refreshToken })
    expect(await again()).toEqual(narrowed)
    allow('reports:write')
    expect(refusalOf(await flow.refresh(photoBook, refreshToken))).toBe('400 invalid_scope')
    allow(both)
    expect(await again()).toEqual(first)
    tokensOf(await flow.refresh(photoBook, first.refreshToken))
  })

  test('is no scope that the client gets for a subject token of before', async () => {
    const client = bent(photoPrint, {
      grant_types: ['authorization_code', 'refresh_token', tokenExchangeName],
    })
    const grantTypes = [tokenExchange({ policy: anyOwner })]
    const { flow, allow, reasonOf } = changing(stage, client, { grantTypes })
    const { accessToken } = await flow.tokens(client)
    allow('photos:read')
    expect(tokensOf(await flow.request(client, exchangeOf(accessToken))).scope).toBe('photos:read')
    const named = exchangeOf(accessToken, { scope: both })
    expect(refusalOf(await flow.request(client, named))).toBe('400 invalid_scope')
    expect(reasonOf()).toBe('scope_not_allowed')
  })

  test('narrows before the resources do: what is left must be a scope of the named one', async () => {
    const { flow, allow, reasonOf } = changing(stage, gallery, withResources())
    const { refreshToken } = await flow.tokens(gallery, { scope: both, resource: [photosApi, printApi] })
    allow('photos:print')
    const refused = await flow.refresh(gallery, refreshToken, { resource: photosApi })
    expect(refusalOf(refused)).toBe('400 invalid_scope')
    expect(reasonOf()).toBe('scope_of_another_resource')
    const tokens = tokensOf(await flow.refresh(gallery, refreshToken, { resource: printApi }))
    expect(tokens.scope).toBe('photos:print')
    expect((await flow.introspect(introspecting, tokens.accessToken)).body).toMatchObject({ aud: [printApi] })
    allow(both)
    expect(tokensOf(await flow.refresh(gallery, tokens.refreshToken)).scope).toBe(both)
  })
})

describeRegistration('A scope that the host takes from clients that register themselves', (stage) => {
  test('is missing from the tokens of their codes and refresh tokens, until it is given back', async () => {
    const before = stage()
    const { body } = await before.register({ ...notesApp, scope: both })
    const client: ClientApplication = { registration: { ...body, client_type: 'public', scope: both } }
    const { refreshToken } = await before.flow.tokens(client)
    const code = await before.flow.approve(client)
    const { store } = before
    const after = stage({ store: before.clients, scope: 'photos:read' }, { store })
    const redeemed = tokensOf(await after.flow.redeem(client, code))
    const refreshed = tokensOf(await after.flow.refresh(client, refreshToken))
    for (const { scope } of [redeemed, refreshed]) expect(scope).toBe('photos:read')
    const other = stage({ store: before.clients, scope: 'reports:write' }, { store })
    expect(outcomeOf(await other.flow.refresh(client, refreshed.refreshToken))).toBe('401 invalid_client')
    expect(tokensOf(await before.flow.refresh(client, refreshed.refreshToken)).scope).toBe(both)
  })
})

describeOnStores('A scope that the document of a client names no more', (stage) => {
  let origin: DocumentOrigin
  beforeEach(async () => {
    origin = await DocumentOrigin.start()
  })
  afterEach(() => origin.stop())

  test('is missing from the token of a refresh, until the document names it again', async () => {
    const { flow, clock } = stage({ clients: metadataDocuments(origin.reach) })
    origin.members = { scope: both }
    const first = await flow.tokens(origin.client, { scope: both })
    const next = async (refreshToken: string) => {
      // Longer than the server keeps the document.
      clock.advance(301)
      return tokensOf(await flow.refresh(origin.client, refreshToken))
    }
    origin.members = { scope: 'photos:print' }
    const narrowed = await next(first.refreshToken)
    expect(narrowed.scope).toBe('photos:print')
    origin.members = { scope: both }
    expect((await next(narrowed.refreshToken)).scope).toBe(both)
  })
})
