import type { GuardedAccess } from '../../lib/index'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const grant_type = 'client_credentials'

describeOnStores('A client for itself', (stage) => {
  test('gets an access token and no refresh token', async () => {
    const { flow } = stage()
    const response = await flow.request(nightlyReport, { grant_type, scope: 'photos:read' })
    tokensOf(response)
    expect(Object.keys(response.body)).toEqual(['access_token', 'token_type', 'expires_in', 'scope'])
    expect(response.body).toMatchObject({ expires_in: 3600, scope: 'photos:read' })
  })

  test('gets none even where it may refresh what others grant it [refresh-16]', async () => {
    const client = bent(photoPrint, {
      grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
    })
    const { flow } = stage({ clients: [client.registration] })
    const response = await flow.request(client, { grant_type, scope: 'photos:read' })
    expect(tokensOf(response).refreshToken).toBe('')
  })

  test('has no subject at a guarded route [token-20]', async () => {
    const seen: (GuardedAccess | undefined)[] = []
    const { flow } = stage(
      {},
      {
        mount: (app, oauth) => {
          app.use(oauth.router())
          app.get('/photos', oauth.bearerGuard('photos:read'), (request, response) => {
            seen.push(request.oauth)
            response.end()
          })
        },
      },
    )
    const { accessToken } = tokensOf(await flow.request(nightlyReport, { grant_type, scope: 'photos:read' }))
    expect((await flow.photos(accessToken)).status).toBe(200)
    expect(seen).toMatchObject([{ clientId: 'nightly-report', scope: ['photos:read'] }])
    expect(seen[0]?.subject).toBeUndefined()
  })

  test('gets a token of its own for each request', async () => {
    const { flow } = stage()
    const ask = async () => tokensOf(await flow.request(nightlyReport, { grant_type, scope: 'photos:read' }))
    expect((await ask()).accessToken).not.toBe((await ask()).accessToken)
  })

  test('without a scope gets the default one, as far as it may have it', async () => {
    const { flow } = stage({ defaultScope: 'photos:read photos:print' })
    expect(tokensOf(await flow.request(nightlyReport, { grant_type })).scope).toBe('photos:read')
  })

  test.each([undefined, '', 'photos:print', 'photos:read  reports:write', 'unheard-of'])(
    'with the scope %p gets invalid_scope [token-10]',
    async (scope) => {
      const { flow, store } = stage()
      expect(refusalOf(await flow.request(nightlyReport, { grant_type, scope }))).toBe('400 invalid_scope')
      expect(store.calls.save).toBe(0)
    },
  )

  test('that is public, or not registered for the grant, gets unauthorized_client', async () => {
    const { flow, store } = stage()
    for (const client of [photoBook, photoPrint])
      expect(refusalOf(await flow.request(client, { grant_type, scope: 'photos:read' }))).toBe(
        '400 unauthorized_client',
      )
    expect(store.calls.save).toBe(0)
  })

  test('that does not authenticate gets invalid_client', async () => {
    const { flow } = stage()
    const { registration } = nightlyReport
    expect(refusalOf(await flow.request({ registration }, { grant_type, scope: 'photos:read' }))).toBe(
      '401 invalid_client',
    )
  })
})
