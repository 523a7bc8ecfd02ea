import { photoBook } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { redirectionOf } from '../support/flows/redirection'

const errorUri = 'https://photos.example/docs/errors'

describeOnStores('An error points to the page that explains its code', (stage) => {
  test('at the token endpoint', async () => {
    const { flow } = stage({ errorUri })
    const { body } = await flow.redeem(photoBook, 'ac_wrong')
    expect(body).toMatchObject({ error: 'invalid_grant', error_uri: `${errorUri}#invalid_grant` })
  })

  test('in a redirect', async () => {
    const { flow } = stage({ errorUri })
    const asked = { ...authorizationRequest(photoBook), scope: 'unheard-of' }
    expect(redirectionOf(await flow.ask(asked, 'alice')).parameters).toMatchObject({
      error: 'invalid_scope',
      error_uri: `${errorUri}#invalid_scope`,
    })
  })

  test('in the challenge of a guard', async () => {
    const { flow } = stage({ errorUri })
    const response = await flow.photos('at_wrong')
    expect(response.get('WWW-Authenticate')?.toString()).toContain(`error_uri="${errorUri}#invalid_token"`)
    expect(response.body.error_uri).toBe(`${errorUri}#invalid_token`)
  })

  test('and to none where the host has no such page', async () => {
    const { flow } = stage()
    expect((await flow.redeem(photoBook, 'ac_wrong')).body).not.toHaveProperty('error_uri')
  })
})
