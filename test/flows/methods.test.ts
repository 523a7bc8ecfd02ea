import { mountPhotos, type Hosting } from '../support/flows/application'
import { photoBook } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest, formOf, redemption } from '../support/flows/flow'
import { rawRequest } from '../support/flows/raw-request'
import { tokensOf } from '../support/flows/tokens'

const asked = formOf(authorizationRequest(photoBook))
const others = ['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE']
const nothing = { find: 0, save: 0, remove: 0 }
const form = ['Content-Type', 'application/x-www-form-urlencoded']

const inParts: Hosting = {
  mount: (app, oauth) => {
    app.all('/authorize', oauth.authorize())
    app.all('/token', oauth.clientAuthentication(), oauth.token())
    mountPhotos(app, oauth)
  },
}

describeOnStores('At the endpoints', (stage) => {
  describe.each([
    ['of the router', {}],
    ['in parts', inParts],
  ])('%s', (_, hosting) => {
    test.each(others)('%s asks for nothing: no record comes of it [edge-10]', async (method) => {
      const { app, store } = stage({}, hosting)
      const headers = ['X-Owner', 'alice', ...form]
      const response = await rawRequest(app, { method, path: `/authorize?${asked}`, headers, body: asked })
      expect(response.status).toBe(405)
      expect(response.headers.allow).toBe('GET, POST')
      expect(response.headers.location).toBeUndefined()
      expect(store.calls).toEqual(nothing)
    })

    test.each([...others, 'GET'])('%s gets no tokens, and spends nothing [edge-9]', async (method) => {
      const { app, store, flow } = stage({}, hosting)
      const code = await flow.approve(photoBook)
      const before = { ...store.calls }
      const grant = formOf({ ...redemption(photoBook, code), client_id: 'photo-book' })
      for (const path of ['/token', `/token?${grant}`]) {
        const response = await rawRequest(app, { method, path, headers: form, body: grant })
        expect(response.status).toBe(405)
        expect(response.headers.allow).toBe('POST')
        expect(response.headers['cache-control']).toBe('no-store')
      }
      expect(store.calls).toEqual(before)
      tokensOf(await flow.redeem(photoBook, code))
    })
  })

  test('HEAD of a guarded route is guarded like GET [token-12]', async () => {
    const { app, flow } = stage()
    const { accessToken } = await flow.tokens(photoBook)
    const head = (headers: readonly string[]) => rawRequest(app, { method: 'HEAD', path: '/photos', headers })
    expect((await head([])).status).toBe(401)
    expect((await head(['Authorization', `Bearer ${accessToken}`])).status).toBe(200)
  })
})
