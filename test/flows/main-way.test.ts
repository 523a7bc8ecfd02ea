import { nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest, formOf } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { tokensOf } from '../support/flows/tokens'

describeOnStores('The main way', (stage) => {
  test.each([photoBook, photoPrint, photoFrame])(
    'leads $registration.client_id from nobody logged in to calls that outlive a refresh',
    async (client) => {
      const { flow } = stage()
      const asked = `/authorize?${formOf(authorizationRequest(client))}`

      const handOff = await flow.open(asked)
      const { uri, parameters } = redirectionOf(handOff)
      expect(uri).toBe('/login')
      const returnTo = String(parameters['return_to'])

      const page = await flow.open(returnTo, 'alice')
      expect(page.status).toBe(200)
      const approval = await flow.decide(page, 'approve', 'alice')
      expect(redirectionOf(approval)).toEqual({
        uri: client.registration.redirect_uris[0],
        parameters: { code: expect.any(String), state: 'af0ifjsldkj', iss: 'http://localhost' },
      })

      const first = tokensOf(await flow.redeem(client, codeOf(approval)))
      const before = await flow.photos(first.accessToken)
      expect(before.status).toBe(200)
      expect(before.body).toEqual({
        authorizationId: expect.any(String),
        clientId: client.registration.client_id,
        subject: 'alice',
        scope: client.registration.scope.split(' '),
        tokenType: 'bearer',
        expiresAt: expect.any(Number),
      })

      const second = tokensOf(await flow.refresh(client, first.refreshToken))
      expect(second.accessToken).not.toBe(first.accessToken)
      expect(second.refreshToken).not.toBe(first.refreshToken)
      const after = await flow.photos(second.accessToken)
      expect(after.body).toMatchObject({ subject: 'alice', authorizationId: before.body.authorizationId })
    },
  )

  test('of a client for itself is one request', async () => {
    const { flow } = stage()
    const response = await flow.request(nightlyReport, {
      grant_type: 'client_credentials',
      scope: 'photos:read',
    })
    const { accessToken } = tokensOf(response)
    expect((await flow.photos(accessToken)).status).toBe(200)
  })
})
