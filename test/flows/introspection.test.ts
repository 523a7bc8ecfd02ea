import type { Response } from 'supertest'
import { nightlyReport, photoPrint } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { expectUncachedJson, refusalOf, tokensOf } from '../support/flows/tokens'

function expectDone(response: Response): void {
  expect({ status: response.status, text: response.text }).toEqual({ status: 200, text: '{}' })
  expectUncachedJson(response)
}

describeOnStores('Revocation', (stage) => {
  test('of a token of client credentials works alike', async () => {
    const { flow } = stage()
    const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
    const { accessToken } = tokensOf(await flow.request(nightlyReport, grant))
    expectDone(await flow.revoke(nightlyReport, accessToken))
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  test('of a code does nothing', async () => {
    const { flow } = stage()
    const code = await flow.approve(photoPrint)
    expectDone(await flow.revoke(photoPrint, code))
    expect(tokensOf(await flow.redeem(photoPrint, code)).refreshToken).not.toBe('')
  })

  test('is 503 while the store fails, so a client knows that the token still exists [revocation-4]', async () => {
    const { flow, store } = stage()
    const { accessToken } = await flow.tokens(photoPrint)
    store.begin('fails', 'remove')
    expect(refusalOf(await flow.revoke(photoPrint, accessToken))).toBe('503 temporarily_unavailable')
    store.recover()
    expectDone(await flow.revoke(photoPrint, accessToken))
  })

  test('works as a mounted part', async () => {
    const { flow } = stage(
      { paths: { revocation: '/connect/forget' } },
      {
        mount: (app, oauth) => {
          app.post('/connect/forget', oauth.clientAuthentication(), oauth.revocation())
          app.use(oauth.router())
          app.get('/photos', oauth.bearerGuard(), (_request, response) => void response.end())
        },
        paths: { revoke: '/connect/forget' },
      },
    )
    const { accessToken } = await flow.tokens(photoPrint)
    expectDone(await flow.revoke(photoPrint, accessToken))
    expect((await flow.photos(accessToken)).status).toBe(401)
  })
})
