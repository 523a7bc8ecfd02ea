import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { type AuthorizationServerOptions, type PageOptions, memoryStore } from '../../lib/index'
import {
  registeredClients,
  metadataDocuments,
  type MetadataDocumentsOptions,
} from '../../lib/paths/registration'
import { privateKeyJwt } from '../../lib/paths/jwt'
import { jwt, signer } from '../support/assertions/jwt'
import { answeredPageOf } from '../support/flows/answered-page'
import { bent, photoBook } from '../support/flows/clients'
import { DocumentOrigin } from '../support/flows/document-origin'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { withPlugins } from '../support/with-plug-ins'

let origin: DocumentOrigin
beforeEach(async () => {
  origin = await DocumentOrigin.start()
})
afterEach(() => origin.stop())

const clientsBy = (options: MetadataDocumentsOptions = {}) =>
  metadataDocuments({ ...origin.reach, ...options })

const host = (
  stage: SetStage,
  documents: MetadataDocumentsOptions = {},
  options: Partial<AuthorizationServerOptions> = {},
) => stage({ clients: clientsBy(documents), ...options })

const status =
  (code: number): RequestListener =>
  (_request, response) =>
    void response.writeHead(code).end()
const text =
  (body: string, type = 'application/json'): RequestListener =>
  (_request, response) =>
    void response.writeHead(200, { 'Content-Type': type }).end(body)

describeOnStores('An unregistered client', (stage) => {
  test('gets from its document to tokens, a refresh and a revocation, and is asked for once', async () => {
    const { flow } = host(stage)
    const { client } = origin
    const first = await flow.tokens(client)
    expect((await flow.photos(first.accessToken)).body).toMatchObject({ clientId: origin.clientId })
    const next = tokensOf(await flow.refresh(client, first.refreshToken))
    expect((await flow.revoke(client, next.refreshToken)).status).toBe(200)
    expect((await flow.photos(next.accessToken)).status).toBe(401)
    expect(origin.asked).toBe(1)
  })

  test('is marked on the consent page, with its host, and with nothing of other hosts [stranger-5]', async () => {
    const { flow } = host(stage)
    const policy_uri = `https://${new URL(origin.clientId).host}/privacy`
    origin.members = { policy_uri, tos_uri: 'https://bank.example/terms' }
    const { text: page } = await flow.ask(authorizationRequest(origin.client), 'alice')
    expect(page).toContain('Note Taker')
    expect(page.match(/<a href="(?!\?)[^"]*"/g)).toEqual([`<a href="${policy_uri}"`])
    expect(page).toContain(`an app of <bdi>${new URL(origin.clientId).host}</bdi>`)
    expect(page).toContain('This app is not registered here.')
    expect(page).toContain('a program on this device')
    expect(page).toContain('http://127.0.0.1:51004')
    expect(page).not.toContain('bank.example')
  })

  test('gets no link to another host on the page after the approval, either', async () => {
    const { flow } = host(stage)
    const redirect_uri = 'https://notes.example/callback'
    const page = await flow.ask({ ...authorizationRequest(origin.client), redirect_uri }, 'alice')
    const approve = () => flow.decide(page, 'approve', 'alice')
    tokensOf(await flow.redeem(origin.client, codeOf(await approve()), { redirect_uri }))
    expect(answeredPageOf(await approve())).toBeUndefined()
  })

  test('is passed to the page of a host, too', async () => {
    const seen: unknown[] = []
    const consent: PageOptions['consent'] = (_request, response, view) => {
      seen.push(view)
      response.end()
    }
    const { flow } = host(stage, { registered: [photoBook.registration] }, { pages: { consent } })
    origin.members = { redirect_uris: ['https://notes.example/cb', 'notes-app:/cb', 'http://127.0.0.1/cb'] }
    for (const redirect_uri of ['https://notes.example/cb', 'notes-app:/cb', 'http://127.0.0.1:7/cb'])
      await flow.ask({ ...authorizationRequest(origin.client), redirect_uri }, 'alice')
    await flow.ask(authorizationRequest(photoBook), 'alice')
    const unregistered = { host: new URL(origin.clientId).host }
    expect(seen).toMatchObject([
      { client: { unregistered, logo_uri: undefined }, receiver: 'web' },
      { client: { unregistered }, receiver: 'app' },
      { client: { unregistered }, receiver: 'device' },
      { client: { client_id: 'photo-book', unregistered: undefined }, receiver: 'web' },
    ])
  })

  // RFC 9700 4.11.2: a document may name any site, so a link to this server could lead people there.
  test('is redirected to only after the owner has agreed [stranger-14]', async () => {
    const { flow } = host(stage)
    const redirect_uris = ['https://notes.example/cb', 'notes-app:/cb', 'http://127.0.0.1/cb']
    origin.members = { redirect_uris }
    const asked = { ...authorizationRequest(origin.client), scope: 'unknown' }
    for (const owner of [undefined, 'alice']) {
      for (const [redirect_uri, shown] of [
        ['https://notes.example/cb', 'notes.example'],
        ['notes-app:/cb', 'an app on this device (notes-app:)'],
      ] as const) {
        const page = await flow.ask({ ...asked, redirect_uri }, owner)
        expect(page.status).toBe(200)
        expect(page.headers).not.toHaveProperty('location')
        expect(page.text).toContain('an app that nobody here has checked')
        expect(page.text).toContain(`<bdi>${shown}</bdi>`)
        expect(page.text).toContain(`href="${redirect_uri}?error=invalid_scope&amp;`)
      }
      const onDevice = await flow.ask({ ...asked, redirect_uri: 'http://127.0.0.1:7/cb' }, owner)
      expect(redirectionOf(onDevice).parameters).toMatchObject({ error: 'invalid_scope' })
    }
    const page = await flow.ask({ ...asked, scope: 'photos:read', redirect_uri: 'notes-app:/cb' }, 'alice')
    expect(redirectionOf(await flow.decide(page, 'deny', 'alice')).uri).toBe('notes-app:/cb')
  })

  test('sees a failure of the server on a page with its status, which says to try again', async () => {
    const skipConsent = () => Promise.reject(new Error('down'))
    const asked = { ...authorizationRequest(origin.client), redirect_uri: 'https://notes.example/callback' }
    const failed = await host(stage, {}, { skipConsent }).flow.ask(asked, 'alice')
    expect([failed.status, failed.get('Retry-After')]).toEqual([500, undefined])
    const closed = await host(stage, {}, { maintenance: () => true }).flow.ask(asked, 'alice')
    expect([closed.status, closed.get('Retry-After')]).toEqual([503, '1'])
    for (const { text: page } of [failed, closed]) expect(page).toContain('reload this page to try again')
  })

  test('never skips consent where any program on the device could pass for it [stranger-6]', async () => {
    const { flow } = host(stage, {}, { skipConsent: () => true })
    const asked = authorizationRequest(origin.client)
    expect((await flow.ask(asked, 'alice')).status).toBe(200)
    const redirect_uri = 'https://notes.example/callback'
    expect(codeOf(await flow.ask({ ...asked, redirect_uri }, 'alice'))).toBeTruthy()
  })

  test('may not introspect, and has no secret', async () => {
    const { flow } = host(stage)
    const { accessToken } = await flow.tokens(origin.client)
    origin.members = { may_introspect: true }
    const refused = await flow.introspect(origin.client, accessToken)
    expect(refusalOf(refused)).toBe('400 unauthorized_client')
    const withSecret = { ...origin.client, secret: 'guess' }
    expect(refusalOf(await flow.introspect(withSecret, accessToken))).toBe('401 invalid_client')
  })

  test('may get its answer at any port of localhost with localhostRedirects alone', async () => {
    origin.members = { redirect_uris: ['http://localhost:3000/callback'] }
    const asked = { ...authorizationRequest(origin.client), redirect_uri: 'http://localhost:1/callback' }
    const statusWith = async (options: object) => (await host(stage, options).flow.ask(asked, 'alice')).status
    expect([await statusWith({ localhostRedirects: true }), await statusWith({})]).toEqual([200, 400])
  })

  describe('whose document is unavailable', () => {
    test.each<[string, RequestListener, string]>([
      ['is gone', status(404), '503 temporarily_unavailable'],
      [
        'moved',
        (_request, response) => void response.writeHead(302, { Location: '/' }).end(),
        '503 temporarily_unavailable',
      ],
      ['is too large', text(JSON.stringify('a'.repeat(6000))), '503 temporarily_unavailable'],
      ['is a list', text('[]'), '400 invalid_request'],
    ])('that %s gets a page, and no redirect [stranger-1]', async (_, answer, page) => {
      const { flow } = host(stage)
      origin.answer = answer
      expect(errorPageOf(await flow.ask(authorizationRequest(origin.client), 'alice'))).toBe(page)
      origin.answer = undefined
      expect((await flow.ask(authorizationRequest(origin.client), 'alice')).status).toBe(200)
    })

    test.each<[string, () => void]>([
      ['gone', () => (origin.answer = status(404))],
      ['malformed', () => (origin.members = { redirect_uris: [] })],
    ])('keeps its tokens while the document is %s [stranger-12]', async (_, spoil) => {
      const { flow, clock } = host(stage)
      const { client } = origin
      const first = await flow.tokens(client)
      spoil()
      const { refreshToken } = tokensOf(await flow.refresh(client, first.refreshToken))
      clock.advance(301)
      const refused = await flow.refresh(client, refreshToken)
      expect(refusalOf(refused)).toBe('400 temporarily_unavailable')
      expect(refused.headers).toHaveProperty('retry-after')
      Object.assign(origin, { answer: undefined, members: {} })
      tokensOf(await flow.refresh(client, refreshToken))
    })

    test('loses a redirection URI while the owner looks at the page [stranger-9]', async () => {
      const { flow, clock } = host(stage)
      const page = await flow.ask(authorizationRequest(origin.client), 'alice')
      clock.advance(301)
      origin.members = { redirect_uris: ['https://notes.example/callback'] }
      expect(errorPageOf(await flow.decide(page, 'approve', 'alice'))).toBe('400 invalid_request')
    })

    test('disappears while the owner looks at the page', async () => {
      const { flow, clock } = host(stage)
      const page = await flow.ask(authorizationRequest(origin.client), 'alice')
      clock.advance(301)
      origin.answer = status(500)
      expect(errorPageOf(await flow.decide(page, 'approve', 'alice'))).toBe('503 temporarily_unavailable')
      origin.answer = undefined
      expect(codeOf(await flow.decide(page, 'approve', 'alice'))).toBeTruthy()
    })
  })

  test('is unknown where its URL is none', async () => {
    const { flow } = host(stage)
    for (const client_id of [
      `${origin.clientId}#a`,
      origin.clientId.replace('https', 'http'),
      'photo-book',
    ]) {
      const client = bent(origin.client, { client_id })
      expect(errorPageOf(await flow.ask(authorizationRequest(client), 'alice'))).toBe('400 invalid_request')
      expect(refusalOf(await flow.refresh(client, 'x'))).toBe('401 invalid_client')
    }
    expect(origin.asked).toBe(0)
  })

  test('is named in events by its URL', async () => {
    const { flow, oauth } = host(stage)
    const seen: unknown[] = []
    oauth.events.on('issued', ({ clientId }) => seen.push(clientId))
    oauth.events.on('refused', ({ clientId, reason }) => seen.push([clientId, reason]))
    await flow.tokens(origin.client)
    const other = bent(origin.client, { client_id: `${origin.clientId}x` })
    await flow.ask(authorizationRequest(other), 'alice')
    await flow.refresh(other, 'x')
    const refusal = [`${origin.clientId}x`, 'client_document_malformed']
    expect(seen).toEqual([origin.clientId, refusal, refusal])
  })

  test.each(['disables in registered', 'no longer allows'])(
    'that the host %s is refused at every endpoint at once, and its access token works on',
    async (how) => {
      let isOut = false
      const disabled = { ...photoBook.registration, client_id: origin.clientId, disabled: true }
      const options =
        how === 'no longer allows'
          ? { allow: () => !isOut }
          : {
              registered: {
                find: async (id: string) => (isOut && id === origin.clientId ? disabled : undefined),
              },
            }
      const { flow } = host(stage, options)
      const { client } = origin
      const page = await flow.ask(authorizationRequest(client), 'alice')
      const code = await flow.approve(client)
      const tokens = await flow.tokens(client)
      isOut = true
      expect((await flow.ask(authorizationRequest(client), 'alice')).status).toBe(400)
      expect((await flow.decide(page, 'approve', 'alice')).status).toBe(400)
      expect(refusalOf(await flow.redeem(client, code))).toBe('401 invalid_client')
      expect(refusalOf(await flow.refresh(client, tokens.refreshToken))).toBe('401 invalid_client')
      expect((await flow.photos(tokens.accessToken)).status).toBe(200)
    },
  )

  test('stands beside clients that the server registers', async () => {
    const { oauth, flow } = host(stage, { registered: registeredClients(memoryStore()) })
    const { client_id: _, ...metadata } = photoBook.registration
    const { client_id } = await oauth.registerClient({ ...metadata, client_type: 'public' })
    for (const client of [bent(photoBook, { client_id }), origin.client])
      expect((await flow.photos((await flow.tokens(client)).accessToken)).status).toBe(200)
  })

  describe('with a key', () => {
    const [own, other] = [signer('own', '1', 'ES256'), signer('other', '1', 'ES256')]
    const redirect_uri = 'https://notes.example/callback'
    const keysUri = () => `${origin.clientId}?keys`
    /** How often the keys at their own URL were asked for. */
    let asked: number
    beforeEach(() => {
      asked = 0
    })

    /** A server that has the method, and a client whose keys are where these members say. */
    function open(members: object, options: Partial<AuthorizationServerOptions> = {}) {
      origin.members = {
        token_endpoint_auth_method: 'private_key_jwt',
        redirect_uris: [redirect_uri],
        ...members,
      }
      origin.answer = (request, response) => {
        const isForKeys = request.url?.endsWith('?keys') === true
        if (isForKeys) asked += 1
        const json = isForKeys ? { keys: [own.jwk] } : { ...origin.document, ...origin.members }
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(json))
      }
      const set = host(stage, {}, { ...options, plugins: withPlugins([privateKeyJwt()], options.plugins) })
      /** The parameters by which the client proves itself. */
      const proof = (key = own) => {
        const [iss, sub] = [origin.clientId, origin.clientId]
        const exp = Math.floor(set.clock.read() / 1000) + 60
        return {
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: jwt(key, { iss, sub, aud: 'http://localhost', jti: randomUUID(), exp }),
        }
      }
      const redeem = (code: string, fields: object) =>
        set.flow.redeem(origin.client, code, { redirect_uri, ...fields })
      return { ...set, proof, redeem }
    }

    test.each([
      ['in its document', () => ({ jwks: { keys: [own.jwk] } })],
      ['at the URL that its document names', () => ({ jwks_uri: keysUri() })],
    ])('%s proves itself where the server has the method', async (_, members) => {
      const { flow, proof, redeem } = open(members())
      const code = await flow.approve(origin.client, { redirect_uri })
      for (const fields of [{}, proof(other)])
        expect(refusalOf(await redeem(code, fields))).toBe('401 invalid_client')
      expect((await flow.photos(tokensOf(await redeem(code, proof())).accessToken)).status).toBe(200)
    })

    test('fails on the account of its network, which then refuses it and asks for none of its keys [store-34]', async () => {
      const networks = { clients: { attempts: 3, seconds: 60 } }
      const { flow, proof, redeem } = open({ jwks_uri: keysUri() }, { limits: { networks } })
      await flow.ask({ ...authorizationRequest(origin.client), redirect_uri }, 'alice')
      for (let round = 0; round < 3; round++)
        expect(refusalOf(await redeem('none', {}))).toBe('401 invalid_client')
      for (let round = 0; round < 3; round++)
        expect(refusalOf(await redeem('none', proof()))).toBe('429 temporarily_unavailable')
      expect(asked).toBe(0)
    })
  })

  test.each<[string, Partial<AuthorizationServerOptions>]>([
    ['alone', {}],
    ['beside clients that register themselves', { dynamicRegistration: {} }],
  ])('of a network that failed too often is not asked for any more: %s', async (_, options) => {
    const networks = { clients: { attempts: 3, seconds: 60 } }
    const { flow } = host(stage, {}, { limits: { networks }, ...options })
    origin.answer = status(404)
    const shop = (at: number) => bent(origin.client, { client_id: `${origin.clientId}?${at}` })
    for (let at = 0; at < 10; at++) await flow.refresh(shop(at), 'x')
    expect((await flow.refresh(shop(10), 'x')).status).toBe(429)
    expect(origin.asked).toBeLessThanOrEqual(4)
  })

  test('of a network that failed too often is not asked for by the authorization endpoint either', async () => {
    const networks = { clients: { attempts: 3, seconds: 3600 } }
    const { flow, clock } = host(stage, {}, { limits: { networks } })
    const page = await flow.ask(authorizationRequest(origin.client), 'alice')
    for (let at = 0; at < 4; at++) await flow.refresh(bent(origin.client, { client_id: 'nobody' }), 'x')
    const { asked } = origin
    const other = bent(origin.client, { client_id: `${origin.clientId}?other` })
    expect((await flow.ask(authorizationRequest(other), 'alice')).status).toBe(429)
    // Its document has ended, and stands in: for the page, and for the decision.
    clock.advance(301)
    expect((await flow.ask(authorizationRequest(origin.client), 'alice')).status).toBe(200)
    expect(codeOf(await flow.decide(page, 'approve', 'alice'))).toBeTruthy()
    expect(origin.asked).toBe(asked)
  })
})
